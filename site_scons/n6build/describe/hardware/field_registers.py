"""Registers that a field report reads: from YAML to addresses and a C header."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from n6build.base.errors import N6Error, did_you_mean
from n6build.base.paths import BOARDS, TEMPLATES, project_path
from n6build.base.templates import render
from n6build.base.yaml_schema import Pattern, read_document
from n6build.describe.hardware.soc import Peripheral, Register, Soc

# One file for the family: all chips have the same registers.
FIELD = BOARDS / "soc" / "stm32n6-field.yaml"
TEMPLATE = TEMPLATES / "n6_field_registers.h.j2"
# Offset of VERSION in a unit of the NPU (ST's ATON.h), and the size of a unit's address range.
_NPU_VERSION = 4
_NPU_UNIT_BYTES = 0x1000

_NONE = Peripheral()
_SELECTED = Pattern(r"\w+\.\w+(@\w+\.\w+=\d+)?", "PERIPHERAL.REGISTER, or with @PERIPHERAL.REGISTER=number")
_Text = Annotated[str, _SELECTED]


@dataclass(frozen=True)
class FieldRegister:
    """A register of a field report.

    Attributes:
        selector: address of a register that `selected` is written to before the read; 0 if there is none.
    """

    name: str
    address: int
    selector: int = 0
    selected: int = 0


@dataclass(frozen=True)
class FieldRegisters:
    """The registers of a field report, by the moment at which they are read."""

    entry: tuple[FieldRegister, ...]
    fsbl: tuple[FieldRegister, ...]
    appli: tuple[FieldRegister, ...]


@dataclass(frozen=True)
class _File:
    entry: tuple[_Text, ...]
    fsbl: tuple[_Text, ...]
    appli: tuple[_Text, ...]


def read_field_registers(path: Path, soc: Soc) -> FieldRegisters:
    """Read the registers of field reports.

    Args:
        path: path of the file; usually FIELD.
        soc: chip that the registers belong to.

    Raises:
        N6Error: N6-SOC-010 for a register that the chip's description does not have; N6-YAML-00x.
    """
    file = read_document(path).load(_File)

    def found(names: tuple[str, ...]) -> tuple[FieldRegister, ...]:
        return tuple(_register(name, soc, path) for name in names)

    return FieldRegisters(found(file.entry), found(file.fsbl), (*found(file.appli), *_npu_versions(soc)))


def field_header(registers: FieldRegisters) -> str:
    """Return the text of n6_field_registers.h."""
    moments = {"entry": registers.entry, "fsbl": registers.fsbl, "appli": registers.appli}
    return render(TEMPLATE, {"moments": moments, "source": f"boards/soc/{FIELD.name}"})


def described(name: str, soc: Soc) -> Register | None:
    """Return a register of the chip's description, or None.

    The result is None for registers without a description, such as the CPU's stack pointer.
    """
    peripheral, _, register = name.partition("@")[0].partition(".")
    kind = next((each for each, found in soc.peripherals.items() if peripheral in (each, *found.instances)), "")
    return soc.peripherals[kind].registers.get(register) if kind else None


def _register(text: str, soc: Soc, path: Path) -> FieldRegister:
    name, _, selection = text.partition("@")
    selector, _, selected = selection.partition("=")
    return FieldRegister(
        text, _address(name, soc, path), _address(selector, soc, path) if selector else 0, int(selected or 0)
    )


def _address(name: str, soc: Soc, path: Path) -> int:
    peripheral = name.partition(".")[0]
    bases = {each: found.base for each, found in soc.peripherals.items() if found.base is not None}
    bases |= {each: base for found in soc.peripherals.values() for each, base in found.instances.items()}
    known = described(name, soc)
    if peripheral not in bases or known is None:
        names = [f"{each}.{word}" for each in bases for word in soc.peripherals.get(each, _NONE).registers]
        raise N6Error("N6-SOC-010", f"no register '{name}'", where=project_path(path), hint=did_you_mean(name, names))
    return bases[peripheral] + known.offset


def npu_version_names(soc: Soc) -> dict[str, int]:
    """Return the expected lower 16 bits of each NPU unit's version register, by name.

    The values come from the chip's description.
    """
    return {
        f"NPU.{name}{index if units.count > 1 else ''}.VERSION": units.version_word
        for name, units in soc.npu.units.items()
        for index in range(units.count)
    }


def _npu_versions(soc: Soc) -> list[FieldRegister]:
    """Return the version registers of the NPU units, in the order of the units.

    The read of its own version also switches on the unit with the gates. The clock of every other
    unit is opened first, because an access without a clock may never end.
    """
    base = soc.peripherals["NPU"].base
    assert base is not None
    clocks = base + _NPU_UNIT_BYTES * soc.npu.units["CLKCTRL"].first
    open_gates = {clock: (min(registers.values()), _gates(soc, clock)) for clock, registers in soc.npu.gates.items()}
    found = []
    for name, units in soc.npu.units.items():
        # Without a gate, the register is CTRL, whose bit 0 is EN.
        offset, selected = open_gates[units.gate.clock] if units.gate else (0, 1)
        for index in range(units.count):
            address = base + _NPU_UNIT_BYTES * (units.first + index) + _NPU_VERSION
            shown = f"NPU.{name}{index if units.count > 1 else ''}.VERSION"
            found.append(FieldRegister(shown, address, clocks + offset, selected))
    return found


def _gates(soc: Soc, clock: str) -> int:
    """Return the bits of all units that have this clock."""
    return sum(
        1 << units.gate.bit + index
        for units in soc.npu.units.values()
        if units.gate and units.gate.clock == clock
        for index in range(units.count)
    )
