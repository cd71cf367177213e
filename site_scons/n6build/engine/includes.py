"""Headers that do not exist, but would be included if they did.

No list of a compiler names them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache

from n6build.base import uses
from n6build.base.regular_file import content_of

# `#include "name"`, `#include <name>`, also where a condition leaves it out, and `__has_include("name")`.
_INCLUDE = re.compile(
    rb'(?:^[ \t]*#[ \t]*(?:include|include_next)[ \t]*|__has_include(?:_next)?[ \t]*\([ \t]*)(?:"([^"\n\0]+)"|<([^>\n\0]+)>)',
    re.MULTILINE,
)
# `#include NAME` and `#embed`, where only the preprocessor knows the file.
_COMPUTED = re.compile(rb"^[ \t]*#[ \t]*(?:include|include_next|embed)[ \t]+[A-Za-z_]", re.MULTILINE)


def absent_headers(files: Collection[str], folders: Sequence[str]) -> list[str]:
    """Return the sorted paths at which a compiler looks in vain for headers.

    Args:
        files: Sources, and all headers that they include.
        folders: Folders in which headers are looked for, in this order; a name in quotes is first
            looked for beside the file.
    """
    absent: set[str] = set()
    for file in files:
        for name, quoted in _included(file, uses.digest_of(file)):
            for folder in ((os.path.dirname(file),) if quoted else ()) + tuple(folders):
                path = os.path.normpath(os.path.join(folder, name))
                if os.path.isfile(path):
                    break
                absent.add(path)
    if has_computed_include(files):
        absent |= _before_computed(files, folders)
    return sorted(absent)


def has_computed_include(files: Iterable[str]) -> bool:
    """Return whether one of the files includes a header that a macro names."""
    return any(_includes_computed(file, digest) for file in files if (digest := uses.digest_of(file)))


@cache
def _includes_computed(file: str, digest: str) -> bool:  # noqa: ARG001
    """Return whether a file includes a header that a macro names.

    Args:
        digest: Digest of the file, so that another content is read again.
    """
    return _COMPUTED.search(content_of(file)) is not None


def _before_computed(files: Collection[str], folders: Sequence[str]) -> set[str]:
    """Return the paths at which any of the files would be found before.

    A macro expands to the name of one of the files, and it is not known which.
    """
    absent = set()
    beside = dict.fromkeys(map(os.path.dirname, files))
    for file in files:
        for number, folder in enumerate(folders):
            name = os.path.relpath(file, folder)
            if not name.startswith(os.pardir):
                before = (os.path.normpath(os.path.join(each, name)) for each in (*beside, *folders[:number]))
                absent |= {path for path in before if not os.path.isfile(path)}
    return absent


def found_headers(sources: Iterable[str], folders: Iterable[str]) -> list[str]:
    """Return the sorted paths of all headers that a compiler may read.

    They include headers that a condition leaves out, but not those of the toolchain, and none whose
    name only the preprocessor makes.

    Args:
        sources: Files of C.
        folders: Folders as for `absent_headers`.
    """
    found: set[str] = set()
    waiting = list(sources)
    while waiting:
        file = waiting.pop()
        for name, quoted in _included(file, uses.digest_of(file)):
            for folder in ((os.path.dirname(file),) if quoted else ()) + tuple(folders):
                path = os.path.normpath(os.path.join(folder, name))
                if os.path.isfile(path):
                    if path not in found:
                        found.add(path)
                        waiting.append(path)
                    break
    return sorted(found)


@cache
def _included(file: str, digest: str) -> tuple[tuple[str, bool], ...]:
    """Return the names that a file includes, and whether each is in quotes.

    Args:
        digest: Digest of the file, empty if it does not exist.
    """
    if not digest:
        return ()
    found = _INCLUDE.findall(content_of(file))
    return tuple(dict.fromkeys((os.fsdecode(quoted or angled), bool(quoted)) for quoted, angled in found))
