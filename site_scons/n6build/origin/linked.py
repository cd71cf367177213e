"""What of other people's libraries is in a program, by the linker's map."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePath

from n6build.image.linker_map import read_linker_map

_MEMBER = re.compile(r"(.+\.a)\((.+)\)")


@dataclass(frozen=True)
class Library:
    """name: of the component that an archive belongs to. expression: of its licences, as SPDX has them, empty where only its
    notices say it. about: where they come from. documents: names of files that come with a toolchain and have the notices."""

    name: str
    expression: str
    about: str
    archives: re.Pattern[str]
    documents: tuple[str, ...] = ()


LIBRARIES = (
    Library(
        "libgcc",
        "GPL-3.0-or-later WITH GCC-exception-3.1",
        "The GCC Runtime Library Exception permits to convey programs that are linked with it under terms of your choice.",
        re.compile(r"libgcc\.a"),
        ("gcc-arm-none-eabi",),
    ),
    Library(
        "newlib",
        "",
        "Many small licences, most of them BSD; COPYING.NEWLIB of its sources has them all.",
        re.compile(r"lib(c|m|g|nosys|rdimon)(_nano)?\.a"),
        ("libnewlib-arm-none-eabi",),
    ),
)
OTHER = Library("", "", "The licence files below come with it.", re.compile(""))


@dataclass(frozen=True)
class LinkedArchive:
    """library: OTHER where it is not one of the toolchain. archive: its file name. members: that are in the program."""

    library: Library
    archive: str
    members: tuple[str, ...]


def linked_archives(maps: Iterable[Path]) -> tuple[LinkedArchive, ...]:
    """Of which something takes memory in a program, sorted by name. maps: of the linker. Raises N6-FILE-002, -003."""
    found: dict[str, set[str]] = {}
    for path in maps:
        for each in read_linker_map(path):
            if match := _MEMBER.fullmatch(each.object):
                found.setdefault(PurePath(match[1]).name, set()).add(match[2])
    return tuple(
        LinkedArchive(library_of(archive), archive, tuple(sorted(members)))
        for archive, members in sorted(found.items())
    )


def library_of(archive: str) -> Library:
    """archive: its file name."""
    return next((each for each in LIBRARIES if each.archives.fullmatch(archive)), OTHER)
