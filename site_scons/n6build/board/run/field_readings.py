"""Registers that the programs of a field report print."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from n6build.describe.hardware.field_registers import described
from n6build.describe.hardware.soc import Soc, field_bits

Moment = Literal["entry", "fsbl", "appli"]
_WORD = "0x([0-9a-f]{8})"
_LINE = re.compile(
    rf"n6 field (entry|fsbl|appli) ([A-Z]\w*(?:\.\w+)+(?:@\w+\.\w+=\d+)?) {_WORD} (?:{_WORD}|fault) {_WORD}", re.ASCII
)


@dataclass(frozen=True)
class Reading:
    """A printed register.

    Attributes:
        moment: Time of the reading: entry of the FSBL, later in the FSBL, or the Appli.
        name: Block and register, such as `RCC.CFGR1`.
        address: 0 for the CPU's own registers.
        value: None if the access faulted or was not answered.
        fields: Values of the bit fields, by their names in the chip's description.
    """

    moment: Moment
    name: str
    address: int
    value: int | None
    fields: Mapping[str, int]


def is_reading(line: str) -> bool:
    """Return true if the console line is an intact reading."""
    return _matched(line) is not None


def _matched(line: str) -> re.Match[str] | None:
    """Return the match of an intact line, None if noise changed the line."""
    match = _LINE.fullmatch(line.strip())
    if match is None:
        return None
    value = ~int(match[4], 16) & 0xFFFF_FFFF if match[4] else 0
    return match if zlib.crc32(match[2].encode()) ^ int(match[3], 16) ^ value == int(match[5], 16) else None


def readings_of(lines: Sequence[str], soc: Soc) -> tuple[Reading, ...]:
    """Return the last reading of each register, in the order of printing.

    A board that starts again prints its registers again.
    """
    found: dict[tuple[str, str], Reading] = {}
    for line in lines:
        if match := _matched(line):
            moment: Moment = match[1]  # type: ignore[assignment]
            value = int(match[4], 16) if match[4] else None
            found.pop((moment, match[2]), None)
            found[moment, match[2]] = Reading(moment, match[2], int(match[3], 16), value, _fields(match[2], value, soc))
    return tuple(found.values())


def _fields(name: str, value: int | None, soc: Soc) -> dict[str, int]:
    register = described(name, soc)
    if value is None or register is None:
        return {}
    placed = {field: field_bits(bits) for field, bits in register.fields.items()}
    return {field: (value & mask) >> low for field, (low, mask) in placed.items()}
