"""MPU tables of a third-party program: arrays of ARM_MPU_Region_t.

ARM_MPU_Load of CMSIS takes them (mpu_armv8.h).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.place.image.declarations import Declarations
from n6build.place.image.elf_reader import Symbol, bytes_at

_TYPE = "ARM_MPU_Region_t"
# The Cortex-M55 has at most this many regions.
_MOST = 16
# Fields of RBAR: BASE, AP[2] (only reading). Fields of RLAR: LIMIT, EN (Armv8-M manual).
_BASE, _READ_ONLY, _ENABLED = 0xFFFF_FFE0, 1 << 2, 1


@dataclass(frozen=True)
class MpuRegion:
    """An MPU region [address, end) from the variable `table`."""

    table: Symbol
    address: int
    end: int
    is_writable: bool


def mpu_regions(elf: Path, declared: Declarations, symbols: Sequence[Symbol]) -> tuple[MpuRegion, ...]:
    """Return the regions that are enabled in any table.

    Raises:
        N6Error: N6-IMAGE-001 if the file is not a valid ELF file.
    """
    found = []
    for name, address in declared.arrays_of(_TYPE):
        table = next((each for each in symbols if (each.name, each.address) == (name, address)), None)
        if table is None:
            continue
        data = bytes_at(elf, address, min(table.bytes // 8, _MOST) * 8)
        for base, limit in struct.iter_unpack("<II", data):
            if limit & _ENABLED:
                end = (limit & _BASE) + (~_BASE & 0xFFFF_FFFF) + 1
                found.append(MpuRegion(table, base & _BASE, end, not base & _READ_ONLY))
    return tuple(found)
