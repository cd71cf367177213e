"""The processors that code is made for: how they are called by the compiler, by themselves and by the emulator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CpuName = Literal["cortex-m55"]


@dataclass(frozen=True)
class Cpu:
    """name: of the chip's description, of GCC and of QEMU. part: number in its CPUID (Arm Cortex-M55 manual, SCB). flags: of GCC,
    for all code that is linked together."""

    name: CpuName
    part: int
    flags: tuple[str, ...]


CORTEX_M55 = Cpu("cortex-m55", 0xD22, ("-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard"))
