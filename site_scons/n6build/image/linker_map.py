"""Which object file gave what to a program, from the linker map that GNU ld writes (-Map)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.files import read_at_most
from n6build.base.paths import project_path

_MAX_BYTES = 256 << 20
# A long name has a line of its own.
_INPUT = re.compile(r"^ [^\s(*][^\s]*\s+0x([0-9a-f]{1,16})\s+0x([0-9a-f]{1,16}) (\S.*)$", re.MULTILINE)


@dataclass(frozen=True)
class MappedInput:
    """An input section of a link. object: file, with (member) for one of a library."""

    address: int
    bytes: int
    object: str


def read_linker_map(path: Path) -> tuple[MappedInput, ...]:
    """Inputs that take memory. Raises N6-FILE-002, N6-FILE-003. A file that is no linker map has none."""
    text = read_at_most(path, _MAX_BYTES).decode(errors="replace")
    found = (MappedInput(int(at, 16), int(size, 16), name.strip()) for at, size, name in _INPUT.findall(text))
    return tuple(each for each in found if each.address and each.bytes)


def object_at(inputs: Sequence[MappedInput], address: int) -> str:
    """Relative to the working directory, or the file's name alone; empty if unknown."""
    for each in inputs:
        if each.address <= address < each.address + each.bytes:
            path = project_path(each.object)
            return Path(path).name if path.startswith("/") else path
    return ""
