"""Settings of the NPU's units when an epoch begins.

A blob's register writes are carried out without a chip.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from n6build.judge.npu.blobs import Blob
from n6build.judge.npu.disassemble import Instruction, Label, Poll, Write, WriteSeries, instructions
from n6build.judge.npu.names import Names, field_values, with_bits

_EN, _CLR, _CONFCLR = 1 << 0, 1 << 1, 1 << 30
# Coefficients and tables are data, not settings.
_TABLES = 0x400
_TRANSLATEADDR = 0x2C


@dataclass(frozen=True)
class UnitSettings:
    """A unit that is on.

    Attributes:
        name: Name of the unit.
        kind: Kind of unit.
        fields: Known values by register and field.
        bases: Names of addresses that a loader still adds, by register. Until then the register has
            an offset.
        tables: Words that the epoch has written into coefficient memories and ROMs, by offset.
    """

    name: str
    kind: str
    fields: Mapping[tuple[str, str], int]
    bases: Mapping[str, str] = field(default_factory=dict)
    tables: Mapping[int, int] = field(default_factory=dict)

    def value(self, register: str, field: str) -> int:
        """Return the value of a field, 0 if it is unknown."""
        return self.fields.get((register, field), 0)


@dataclass(frozen=True)
class EpochSettings:
    """The settings of an epoch.

    Attributes:
        number: ST's number of the epoch.
        units: Units that are on, by their numbers.
    """

    number: int
    units: tuple[UnitSettings, ...]


@dataclass
class Registers:
    """The registers of all units, from their reset on.

    Attributes:
        names: Names of units and registers.
        values: Values by unit and offset.
        decoded: Settings of each unit, kept until one of its registers is written.
        bases: Names of addresses that a loader still adds, by unit and offset.
        resets: Reset values by kind of unit.
        has_work: A stream engine has been switched on.
        tables: Words of coefficient memories and ROMs since the epoch began, by unit and offset.
    """

    names: Names
    values: dict[int, dict[int, int]] = field(default_factory=dict)
    decoded: dict[int, UnitSettings] = field(default_factory=dict)
    bases: dict[int, dict[int, str]] = field(default_factory=dict)
    resets: dict[str, dict[int, int]] = field(default_factory=dict)
    has_work: bool = False
    tables: dict[int, dict[int, int]] = field(default_factory=dict)

    def of(self, unit: int) -> dict[int, int]:
        """Return the values of a unit's registers, by offset."""
        if unit not in self.values:
            kind = self.names.units[unit].kind
            if kind not in self.resets:
                known = ((at[1], each.register) for at, each in self.names.registers.items() if at[0] == kind)
                self.resets[kind] = {offset: register.reset for offset, register in known if offset < _TABLES}
            self.values[unit] = dict(self.resets[kind])
        return self.values[unit]

    def write(self, unit: int, offset: int, value: int, base: str = "") -> None:
        """Write a whole register, or a word of a table.

        Args:
            unit: Number of the unit.
            offset: Offset of the register in the unit.
            value: Value of the register.
            base: Name of the address that a loader still adds to the value, empty if none.
        """
        if unit not in self.names.units:
            return
        registers = self.of(unit)
        if offset >= _TABLES:
            if self.names.units[unit].kind == "ARITH" and not registers.get(_TRANSLATEADDR, 0) & _EN:
                # Without translation the offset counts from the unit's begin, and reaches the upper entries.
                offset += _TABLES
            self.tables.setdefault(unit, {})[offset] = value
            return
        self.decoded.pop(unit, None)
        if base:
            self.bases.setdefault(unit, {})[offset] = base
        elif unit in self.bases:
            self.bases[unit].pop(offset, None)
        if offset:
            registers[offset] = value
            return
        was_on = registers[0] & _EN
        if value & _CONFCLR:
            del self.values[unit]
            self.bases.pop(unit, None)
            registers = self.of(unit)
            value = registers[0]
        registers[0] = 0 if value & _CLR else value
        if self.names.units[unit].kind == "STRENG" and registers[0] & _EN and not was_on:
            self.has_work = True

    def settings(self) -> tuple[UnitSettings, ...]:
        """Return the settings of the units that are on."""
        on = sorted(unit for unit, registers in self.values.items() if registers[0] & _EN)
        return tuple(self._decoded(unit) for unit in on)

    def _decoded(self, unit: int) -> UnitSettings:
        if unit not in self.decoded:
            owner = self.names.units[unit]
            fields: dict[tuple[str, str], int] = {}
            bases: dict[str, str] = {}
            added = self.bases.get(unit, {})
            for offset, value in self.values[unit].items():
                found = self.names.register(unit, offset)
                if found:
                    fields |= {(found.name, name): content for name, content in field_values(found.register, value)}
                    if offset in added:
                        bases[found.name] = added[offset]
            self.decoded[unit] = UnitSettings(owner.name, owner.kind, fields, bases)
        tables = self.tables.get(unit)
        return replace(self.decoded[unit], tables=dict(tables)) if tables else self.decoded[unit]


def epochs_of_blob(blob: Blob, names: Names) -> Iterator[EpochSettings]:
    """Return the epochs of a blob in the order in which they are computed.

    An epoch has the settings at the moment when the controller first waits after stream engines
    were switched on.

    Args:
        blob: The blob.
        names: Names of units and registers.

    Raises:
        N6Error: N6-NPU-003.
    """
    registers = Registers(names)
    return _epochs(instructions(blob), registers, blob.container.bases if blob.container else {})


def _epochs(decoded: Iterable[Instruction], registers: Registers, bases: Mapping[int, str]) -> Iterator[EpochSettings]:
    number, has_run = 0, False
    for instruction in decoded:
        match instruction:
            case Label():
                if instruction.number != number:
                    # Entries of an epoch before would be taken for channels of this one.
                    registers.tables.clear()
                number, has_run = instruction.number, False
            case Poll() if registers.has_work and not has_run:
                yield EpochSettings(number, registers.settings())
                registers.has_work, has_run = False, True
            case Write(unit=unit, offset=offset) if unit in registers.names.units:
                before = registers.of(unit).get(offset, 0)
                value = with_bits(before, instruction.low, instruction.high, instruction.value)
                registers.write(unit, offset, value, "" if instruction.immediate else bases.get(instruction.at + 1, ""))
            case WriteSeries(unit=unit, offset=offset, step=step):
                for place, value in enumerate(instruction.values):
                    registers.write(unit, offset + place * step, value, bases.get(instruction.at + 1 + place, ""))
