"""Processors that n6build compiles code for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CpuName = Literal["cortex-m55"]


@dataclass(frozen=True)
class Cpu:
    """A processor.

    Attributes:
        name: name in the chip's description, for GCC and for QEMU.
        part: part number in CPUID (Arm Cortex-M55 manual, SCB).
        flags: flags of GCC for all code that is linked together.
    """

    name: CpuName
    part: int
    flags: tuple[str, ...]


CORTEX_M55 = Cpu("cortex-m55", 0xD22, ("-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard"))
