"""n6_soc.h and the headers that it includes: the chip's constants for C.

The constants are addresses, registers and bits, for the firmware and for the virtual board.
Constants that C files use together share a header, so that a change of a memory recompiles only the
files that use memories. n6_soc.h includes all headers, for third-party programs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields
from itertools import chain
from pathlib import Path
from typing import Generic, TypeVar

from n6build.base.paths import TEMPLATES
from n6build.base.templates import render
from n6build.describe.hardware.aliases import SECURE_BIT
from n6build.describe.hardware.program_places import ProgramPlaces, places_of
from n6build.describe.hardware.soc import CLEAR_ALIAS, SET_ALIAS, Register, Soc, field_bits

Described = TypeVar("Described")

_NPU_UNIT_BYTES = 0x1000
# A program sets these units itself. The blobs of the epoch controller set all others.
_NPU_CONTROL = ("CLKCTRL", "INTCTRL", "BUSIF", "EPOCHCTRL")
# The firmware uses none of the other peripherals, so they are in n6_soc_devices.h.
_CPU = ("SYSTICK", "NVIC", "SCB", "MPU", "SAU", "FPU", "DCB", "ITM", "DWT", "MEMSYSCTL")
_SYSTEM = ("RCC", "PWR", "RAMCFG", "SYSCFG", "BSEC", "IWDG", "DBGMCU")
_NPU = ("NPU", "CACHEAXI")
_BY_HEADER = {
    "n6_soc_gpio.h": ("GPIO",),
    "n6_soc_rif.h": ("RIFSC", "RISAF", "IAC"),
    "n6_soc_usart.h": ("USART1",),
    "n6_soc_xspi.h": ("XSPI", "XSPIM"),
}


@dataclass(frozen=True)
class PeripheralConstants:
    """Registers and addresses of a peripheral, as in `Peripheral`."""

    base: int | None
    instances: dict[str, int]
    registers: dict[str, Register]


@dataclass(frozen=True)
class NpuRegisterConstants:
    """A register of an NPU unit, as in `NpuRegister`."""

    offset: int
    fields: dict[str, int | tuple[int, ...]]


@dataclass(frozen=True)
class NpuUnitConstants:
    """The NPU units of one kind.

    Attributes:
        base: address of the first unit.
        version_word: as in `NpuUnits`.
        gate: bit in the registers of clock B.
        registers: registers that a program sets itself; empty for kinds that the blobs set.
    """

    base: int
    version_word: int
    count: int
    gate: int | None
    registers: dict[str, NpuRegisterConstants]


@dataclass(frozen=True)
class Constants:
    """The constants of a header. name: name of the chip or the board."""

    name: str


@dataclass(frozen=True)
class WithParts(Constants):
    """The constants of n6_soc.h or n6_board.h. parts: names of included headers."""

    parts: tuple[str, ...]


@dataclass(frozen=True)
class OfCpu(Constants):
    """The constants of n6_soc_cpu.h. cpu, cache_line: as in `Soc`."""

    cpu: str
    cache_line: int
    peripherals: dict[str, PeripheralConstants]


@dataclass(frozen=True)
class OfSystem(Constants):
    """The constants of n6_soc_system.h. hsi_hz, lsi_hz: as in `Soc`."""

    hsi_hz: int
    lsi_hz: int
    peripherals: dict[str, PeripheralConstants]


@dataclass(frozen=True)
class OfMemories(Constants):
    """The constants of n6_soc_memories.h. memories: (base, size in bytes) by name."""

    memories: dict[str, tuple[int, int]]


@dataclass(frozen=True)
class OfPrograms(Constants):
    """The constants of n6_soc_programs.h."""

    programs: ProgramPlaces


@dataclass(frozen=True)
class OfInterrupts(Constants):
    """The constants of n6_soc_interrupts.h, as in `Soc`."""

    interrupt_count: int
    interrupts: dict[str, int]
    dma_requests: dict[str, int]


@dataclass(frozen=True)
class OfNpu(Constants):
    """The constants of n6_soc_npu.h. npu: the units, by their kind."""

    npu: dict[str, NpuUnitConstants]
    peripherals: dict[str, PeripheralConstants]


@dataclass(frozen=True)
class OfPeripherals(Constants):
    """The constants of a header that contains only peripherals.

    Attributes:
        guard: macro that is defined once the header is included.
    """

    guard: str
    peripherals: dict[str, PeripheralConstants]


@dataclass(frozen=True)
class Header(Generic[Described]):
    """A generated header of the chip or of a board.

    Attributes:
        name: file name of the header.
        kind: dataclass with the header's constants.
        of: function that takes the constants from a chip or a board.
    """

    name: str
    kind: type[Constants]
    of: Callable[[Described], Constants]

    @property
    def template(self) -> Path:
        """The Jinja template of the header."""
        return TEMPLATES / ("n6_soc_peripherals.h.j2" if self.kind is OfPeripherals else f"{self.name}.j2")

    def text(self, constants: Constants) -> str:
        """Return the text of the header. constants: an instance of `kind`."""
        return render(
            self.template,
            {field.name: getattr(constants, field.name) for field in fields(constants)}
            | {
                "set_offset": SET_ALIAS,
                "clear_offset": CLEAR_ALIAS,
                "secure_bit": SECURE_BIT,
                "field_bits": field_bits,
                "alias_name": _alias_name,
                "npu_unit_bytes": _NPU_UNIT_BYTES,
            },
        )


def _peripherals(soc: Soc, names: Collection[str]) -> dict[str, PeripheralConstants]:
    return {
        name: PeripheralConstants(each.base, each.instances, each.registers)
        for name, each in soc.peripherals.items()
        if name in names
    }


def _memories(soc: Soc) -> dict[str, tuple[int, int]]:
    return {name: (memory.base, memory.size) for name, memory in soc.memories.items()}


def _of_peripherals(header: str, names: Callable[[Soc], Collection[str]]) -> Header[Soc]:
    guard = header.upper().replace(".", "_")
    return Header(header, OfPeripherals, lambda soc: OfPeripherals(soc.name, guard, _peripherals(soc, names(soc))))


def _of_these(header: str, names: Collection[str]) -> Header[Soc]:
    return _of_peripherals(header, lambda _: names)


def _other_peripherals(soc: Soc) -> set[str]:
    return soc.peripherals.keys() - {*_CPU, *_SYSTEM, *_NPU, *chain.from_iterable(_BY_HEADER.values())}


def _npu_units(soc: Soc) -> dict[str, NpuUnitConstants]:
    base = soc.peripherals["NPU"].base
    assert base is not None  # The NPU has one instance, and therefore a base.
    return {
        kind: NpuUnitConstants(
            base + units.first * _NPU_UNIT_BYTES,
            units.version_word,
            units.count,
            units.gate.bit if units.gate and units.gate.clock == "B" else None,
            {name: NpuRegisterConstants(each.offset, each.fields) for name, each in soc.npu.registers[kind].items()}
            if kind in _NPU_CONTROL
            else {},
        )
        for kind, units in soc.npu.units.items()
    }


def _alias_name(register: str, letter: str) -> str:
    """Return the name of a register's set or clear alias, as in the reference manual.

    Examples: AHB5ENR becomes AHB5ENSR or AHB5ENCR, APB4ENR2 becomes APB4ENSR2.
    """
    return re.sub(r"R(\d*)$", rf"{letter}R\1", register)


_PARTS = (
    Header("n6_soc_cpu.h", OfCpu, lambda soc: OfCpu(soc.name, soc.cpu, soc.cache_line, _peripherals(soc, _CPU))),
    Header("n6_soc_memories.h", OfMemories, lambda soc: OfMemories(soc.name, _memories(soc))),
    Header("n6_soc_programs.h", OfPrograms, lambda soc: OfPrograms(soc.name, places_of(soc))),
    Header(
        "n6_soc_interrupts.h",
        OfInterrupts,
        lambda soc: OfInterrupts(soc.name, soc.interrupt_count, soc.interrupts, soc.dma_requests),
    ),
    Header(
        "n6_soc_system.h",
        OfSystem,
        lambda soc: OfSystem(soc.name, soc.hsi_hz, soc.lsi_hz, _peripherals(soc, _SYSTEM)),
    ),
    Header("n6_soc_npu.h", OfNpu, lambda soc: OfNpu(soc.name, _npu_units(soc), _peripherals(soc, _NPU))),
    *(_of_these(header, names) for header, names in _BY_HEADER.items()),
    _of_peripherals("n6_soc_devices.h", _other_peripherals),
)
HEADERS = (
    Header("n6_soc.h", WithParts, lambda soc: WithParts(soc.name, tuple(part.name for part in _PARTS))),
    *_PARTS,
)
