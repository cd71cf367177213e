"""A database for SConsignFile() that SCons neither reads nor writes, for a project that n6build alone builds.

The engine keeps what was made from what. SCons' own database makes a file even for a dry run, executes what a pickle says when
it reads one, and ends with a traceback for some kinds of damage and for a full disk.
"""

from __future__ import annotations


class _Nothing(dict[str, bytes]):
    def sync(self) -> None:
        """Write nothing. SCons calls this once, at the end of a build."""


def open(name: str, *_: object) -> _Nothing:
    """Return an empty database: SCons takes this module for one of the standard library's kind, such as dbm."""
    return _Nothing()
