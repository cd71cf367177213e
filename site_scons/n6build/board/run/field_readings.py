"""Registers that the programs of a field report print."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from n6build.describe.formats.console import FIELD, FIELD_FAULT
from n6build.describe.hardware.field_registers import described
from n6build.describe.hardware.soc import Soc, field_bits

Moment = Literal["entry", "fsbl", "appli"]
_NAME = re.compile(r"[A-Z]\w*(?:\.\w+)+(?:@\w+\.\w+=\d+)?", re.ASCII)


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
    return _values(line) is not None


def _values(line: str) -> Mapping[str, str] | None:
    """Return the values of an intact line, None if noise changed the line."""
    values = FIELD.read(line.strip()) or FIELD_FAULT.read(line.strip())
    if values is None or not _NAME.fullmatch(values["name"]):
        return None
    value = ~int(values["value"], 16) & 0xFFFF_FFFF if "value" in values else 0
    check = zlib.crc32(values["name"].encode()) ^ int(values["address"], 16) ^ value
    return values if check == int(values["check"], 16) else None


def readings_of(lines: Sequence[str], soc: Soc) -> tuple[Reading, ...]:
    """Return the last reading of each register, in the order of printing.

    A board that starts again prints its registers again.
    """
    found: dict[tuple[str, str], Reading] = {}
    for line in lines:
        if values := _values(line):
            moment: Moment = values["moment"]  # type: ignore[assignment]
            name, value = values["name"], int(values["value"], 16) if "value" in values else None
            found.pop((moment, name), None)
            found[moment, name] = Reading(moment, name, int(values["address"], 16), value, _fields(name, value, soc))
    return tuple(found.values())


def _fields(name: str, value: int | None, soc: Soc) -> dict[str, int]:
    register = described(name, soc)
    if value is None or register is None:
        return {}
    placed = {field: field_bits(bits) for field, bits in register.fields.items()}
    return {field: (value & mask) >> low for field, (low, mask) in placed.items()}
