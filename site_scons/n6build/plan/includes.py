"""Headers that are not there and would be taken if they were: no list of a compiler names them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import cache

from n6build.base import uses

# `#include "name"`, `#include <name>`, also where a condition leaves it out, and `__has_include("name")`.
_INCLUDE = re.compile(
    rb'(?:^[ \t]*#[ \t]*(?:include|include_next)[ \t]*|__has_include(?:_next)?[ \t]*\([ \t]*)(?:"([^"\n\0]+)"|<([^>\n\0]+)>)',
    re.MULTILINE,
)


def absent_headers(files: Iterable[str], folders: Iterable[str]) -> list[str]:
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
    return sorted(absent)


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
