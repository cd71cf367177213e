"""Which ll_aton the Appli is linked with."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from n6build.errors import N6Error
from n6build.paths import FIRMWARE

Version = tuple[int, int, int, int]


@dataclass(frozen=True)
class Runtime:
    """libraries: full paths. defines: as NAME or NAME=value."""

    name: Literal["n6build", "st"]
    version: Version
    sources: tuple[Path, ...]
    include_folders: tuple[Path, ...]
    defines: tuple[str, ...]
    compile_flags: tuple[str, ...]
    link_flags: tuple[str, ...]
    libraries: tuple[Path, ...]


def own_runtime() -> Runtime:
    folder = FIRMWARE / "runtime"
    return Runtime(
        name="n6build",
        version=read_ll_aton_version(folder / "ll_aton_version.h"),
        sources=tuple(sorted(folder.glob("*.c"))),
        include_folders=(folder,),
        defines=(),
        compile_flags=(),
        link_flags=(),
        libraries=(),
    )


def read_ll_aton_version(header: Path) -> Version:
    """Raises N6-LLATON-001 where the header does not name the four numbers."""
    try:
        text = header.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise N6Error("N6-LLATON-001", f"cannot read: {error.strerror}", where=str(header)) from error
    found = dict(re.findall(r"^\s*#\s*define\s+LL_ATON_VERSION_(MAJOR|MINOR|MICRO|DEV)\s+\(?(\d{1,9})\)?", text, re.M))
    if len(found) != 4:
        raise N6Error("N6-LLATON-001", "does not name the four numbers of its version", where=str(header))
    return (int(found["MAJOR"]), int(found["MINOR"]), int(found["MICRO"]), int(found["DEV"]))
