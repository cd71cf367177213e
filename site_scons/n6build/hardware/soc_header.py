"""n6_soc.h: the chip's addresses, registers and bits as C constants, for the firmware and for the virtual board."""

from __future__ import annotations

import re
from dataclasses import dataclass

from n6build.base.paths import TEMPLATES
from n6build.base.templates import render
from n6build.hardware.aliases import SECURE_BIT
from n6build.hardware.program_places import ProgramPlaces, places_of
from n6build.hardware.soc import CLEAR_ALIAS, SET_ALIAS, Register, Soc, field_bits

TEMPLATE = TEMPLATES / "n6_soc.h.j2"
_NPU_UNIT_BYTES = 0x1000
# What a program has to set itself; everything else is in the blobs of the epoch controller.
_NPU_CONTROL = ("CLKCTRL", "INTCTRL", "BUSIF", "EPOCHCTRL")


@dataclass(frozen=True)
class PeripheralConstants:
    """Registers and addresses, as in `Peripheral`."""

    base: int | None
    instances: dict[str, int]
    registers: dict[str, Register]


@dataclass(frozen=True)
class NpuRegisterConstants:
    """As in `NpuRegister`."""

    offset: int
    fields: dict[str, int | tuple[int, ...]]


@dataclass(frozen=True)
class NpuUnitConstants:
    """Of one kind. base: of the first unit. version_word: as of `NpuUnits`. gate: bit in the registers of clock B. registers:
    of those that a program sets itself, none for others."""

    base: int
    version_word: int
    count: int
    gate: int | None
    registers: dict[str, NpuRegisterConstants]


@dataclass(frozen=True)
class SocConstants:
    """What of a chip's description is in the header. memories: base and size of each. npu: its units, by their kind. The others
    are as in `Soc`."""

    name: str
    cpu: str
    cache_line: int
    hsi_hz: int
    lsi_hz: int
    interrupt_count: int
    programs: ProgramPlaces
    memories: dict[str, tuple[int, int]]
    interrupts: dict[str, int]
    dma_requests: dict[str, int]
    peripherals: dict[str, PeripheralConstants]
    npu: dict[str, NpuUnitConstants]


def constants_of(soc: Soc) -> SocConstants:
    """The constants of a chip, as steps take them."""
    return SocConstants(
        soc.name,
        soc.cpu,
        soc.cache_line,
        soc.hsi_hz,
        soc.lsi_hz,
        soc.interrupt_count,
        places_of(soc),
        {name: (memory.base, memory.size) for name, memory in soc.memories.items()},
        soc.interrupts,
        soc.dma_requests,
        {
            name: PeripheralConstants(each.base, each.instances, each.registers)
            for name, each in soc.peripherals.items()
        },
        _npu_units(soc),
    )


def _npu_units(soc: Soc) -> dict[str, NpuUnitConstants]:
    base = soc.peripherals["NPU"].base
    assert base is not None  # Of a peripheral with one instance.
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


def soc_header(constants: SocConstants) -> str:
    """The text of n6_soc.h."""
    return render(
        TEMPLATE,
        {
            "soc": constants,
            "set_offset": SET_ALIAS,
            "clear_offset": CLEAR_ALIAS,
            "secure_bit": SECURE_BIT,
            "field_bits": field_bits,
            "alias_name": _alias_name,
            "npu_unit_bytes": _NPU_UNIT_BYTES,
        },
    )


def _alias_name(register: str, letter: str) -> str:
    """AHB5ENR -> AHB5ENSR or AHB5ENCR, APB4ENR2 -> APB4ENSR2: the reference manual's names of the set and clear aliases."""
    return re.sub(r"R(\d*)$", rf"{letter}R\1", register)
