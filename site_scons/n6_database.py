"""An empty database for SCons, for projects that only n6build builds.

SCons' function SConsignFile() takes this module in place of one such as dbm, and then neither reads
nor writes a file. The engine keeps the records of a build itself. SCons' own database creates a
file even for a dry run, executes code in a pickle that it reads, and ends with a traceback for some
kinds of damage and for a full disk.
"""

from __future__ import annotations


class _Nothing(dict[str, bytes]):
    def sync(self) -> None:
        """Write nothing; SCons calls this once, at the end of a build."""


def open(name: str, *_: object) -> _Nothing:
    """Return an empty database, in place of a module such as dbm."""
    return _Nothing()
