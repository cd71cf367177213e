"""Object files that contributed to a program, from the map of GNU ld (-Map)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.files import read_at_most
from n6build.base.paths import project_path

_MAX_BYTES = 256 << 20
# The pattern may span two lines, because the linker puts a long name on its own line.
_INPUT = re.compile(r"^ [^\s(*][^\s]*\s+0x([0-9a-f]{1,16})\s+0x([0-9a-f]{1,16}) (\S.*)$", re.MULTILINE)


@dataclass(frozen=True)
class MappedInput:
    """An input section of a link.

    Attributes:
        address: Address of the section.
        bytes: Size in bytes.
        object: Object file, with (member) for one of a library.
    """

    address: int
    bytes: int
    object: str


def read_linker_map(path: Path) -> tuple[MappedInput, ...]:
    """Read the input sections that take memory; a file that is no linker map has none.

    Raises:
        N6Error: N6-FILE-002 if the file cannot be read; N6-FILE-003 if it is too large.
    """
    text = read_at_most(path, _MAX_BYTES).decode(errors="replace")
    found = (MappedInput(int(at, 16), int(size, 16), name.strip()) for at, size, name in _INPUT.findall(text))
    return tuple(each for each in found if each.address and each.bytes)


def object_at(inputs: Sequence[MappedInput], address: int) -> str:
    """Return the object file at an address, or an empty text if it is unknown.

    The path is relative to the working directory; outside of it, only the file's name is given.
    """
    for each in inputs:
        if each.address <= address < each.address + each.bytes:
            path = project_path(each.object)
            return Path(path).name if path.startswith("/") else path
    return ""
