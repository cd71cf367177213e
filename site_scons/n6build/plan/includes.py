"""Headers that are not there and would be taken if they were: no list of a compiler names them."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache

from n6build.base import uses

# `#include "name"`, `#include <name>`, also where a condition leaves it out, and `__has_include("name")`.
_INCLUDE = re.compile(
    rb'(?:^[ \t]*#[ \t]*(?:include|include_next)[ \t]*|__has_include(?:_next)?[ \t]*\([ \t]*)(?:"([^"\n\0]+)"|<([^>\n\0]+)>)',
    re.MULTILINE,
)
# `#include NAME` and `#embed`, where only the preprocessor knows the file.
_COMPUTED = re.compile(rb"^[ \t]*#[ \t]*(?:include|include_next|embed)[ \t]+[A-Za-z_]", re.MULTILINE)


def absent_headers(files: Collection[str], folders: Sequence[str]) -> list[str]:
    """Sorted paths at which a compiler looks before it finds a header, or finds none. files: sources, and all headers that they
    include. folders: where headers are looked for, in this order; a name in quotes is first looked for beside the file."""
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
    """Return whether one of the files includes a header whose name a macro expands to."""
    return any(_includes_computed(file, digest) for file in files if (digest := uses.digest_of(file)))


@cache
def _includes_computed(file: str, digest: str) -> bool:  # noqa: ARG001
    """digest: of the file, so that another content is read again."""
    with open(file, "rb") as opened:
        return _COMPUTED.search(opened.read()) is not None


def _before_computed(files: Collection[str], folders: Sequence[str]) -> set[str]:
    """Return where any of the files would be found before: one of them is what a macro expands to, and nobody knows which."""
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
    """Sorted paths of all headers that a compiler may read, also where a condition leaves an include out: not those of the
    toolchain, and none whose name only the preprocessor makes. folders: as for `absent_headers`."""
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
    """(name, whether it is in quotes). digest: of the file, empty if it is not there."""
    if not digest:
        return ()
    with open(file, "rb") as opened:
        found = _INCLUDE.findall(opened.read())
    return tuple(dict.fromkeys((os.fsdecode(quoted or angled), bool(quoted)) for quoted, angled in found))
