"""Third-party libraries in a program, according to the linker's map."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePath

from n6build.place.image.linker_map import read_linker_map

_MEMBER = re.compile(r"(.+\.a)\((.+)\)")


@dataclass(frozen=True)
class Library:
    """A component that an archive belongs to.

    Attributes:
        name: Name of the component.
        expression: SPDX expression of its licences, empty if only its notices state them.
        about: Source of its licences.
        product: Vendor and product, as vulnerability databases name them in a CPE.
        package: Name in a package URL.
        archives: Pattern of the file names of its archives.
        documents: Names of files that come with a toolchain and hold the notices.
    """

    name: str
    expression: str
    about: str
    archives: re.Pattern[str]
    product: str = ""
    package: str = ""
    documents: tuple[str, ...] = ()


@dataclass(frozen=True)
class Vendored:
    """A third-party library whose sources are in firmware/third_party.

    Attributes:
        name: Name of the library.
        version: Its release.
        licence: SPDX identifier of its licence.
        folder: Folder of its sources, from the one of n6build.
        product: As for `Library`.
        package: As for `Library`.
    """

    name: str
    version: str
    licence: str
    folder: str
    product: str
    package: str


VENDORED = (Vendored("BearSSL", "0.6", "MIT", "firmware/third_party/bearssl/", "bearssl:bearssl", "bearssl"),)
LIBRARIES = (
    Library(
        "libgcc",
        "GPL-3.0-or-later WITH GCC-exception-3.1",
        "The GCC Runtime Library Exception permits to convey programs that are linked with it under terms of your choice.",
        re.compile(r"libgcc\.a"),
        "gnu:gcc",
        "gcc",
        ("gcc-arm-none-eabi",),
    ),
    Library(
        "newlib",
        "",
        "Many small licences, most of them BSD; COPYING.NEWLIB of its sources has them all.",
        re.compile(r"lib(c|m|g|nosys|rdimon)(_nano)?\.a"),
        "newlib_project:newlib",
        "newlib",
        ("libnewlib-arm-none-eabi",),
    ),
)
OTHER = Library("", "", "The licence files below come with it.", re.compile(""))


@dataclass(frozen=True)
class LinkedArchive:
    """An archive that a program is linked with.

    Attributes:
        library: Its component; OTHER if it is not one of the toolchain.
        archive: File name.
        members: Members that are in the program.
    """

    library: Library
    archive: str
    members: tuple[str, ...]


def linked_archives(maps: Iterable[Path]) -> tuple[LinkedArchive, ...]:
    """Return the archives that take memory in a program, sorted by name.

    Args:
        maps: Maps of the linker.

    Raises:
        N6Error: N6-FILE-002, N6-FILE-003.
    """
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
    """Return the component of an archive, by its file name."""
    return next((each for each in LIBRARIES if each.archives.fullmatch(archive)), OTHER)
