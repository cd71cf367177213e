"""The NPU's units, registers and fields, and the parts of them that are modelled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from n6build.base.yaml_schema import Address, Identifier, Range


@dataclass(frozen=True)
class NpuGate:
    """A gate of an NPU clock.

    Attributes:
        clock: clock that the gate opens.
        bit: bit in the registers of that clock.
    """

    clock: Literal["A", "B"]
    bit: Annotated[int, Range(0, 31)]


@dataclass(frozen=True)
class NpuUnits:
    """Consecutive NPU units of one kind.

    Attributes:
        first: number of the first unit; each has 4 KiB from the NPU's base.
        kind: number in VERSION of each unit (ST's ATON.h).
        version: major and minor number in VERSION.
        count: number of units.
        gate: gate of the first unit's clock, followed bit by bit by those of the others; None for
            the unit that has the gates.
        modelled: whether the virtual NPU models the units.
    """

    first: Annotated[int, Range(0, 0x1F)]
    kind: Annotated[int, Range(0, 0xFF)]
    version: tuple[Annotated[int, Range(0, 15)], ...]
    count: Annotated[int, Range(1, 32)] = 1
    gate: NpuGate | None = None
    modelled: bool = True

    @property
    def version_word(self) -> int:
        """The lower 16 bits of VERSION: kind, minor, major."""
        return self.kind | self.version[1] << 8 | self.version[0] << 12


@dataclass(frozen=True)
class NpuRegister:
    """A register of an NPU unit.

    Attributes:
        offset: offset in the unit.
        fields: a bit, or [lowest, highest], by name.
        reset: value after a reset.
        count: number of consecutive registers of this kind, one word each.
        unmodelled: fields for which the virtual NPU accepts only 0.
        values: accepted values of other fields, by name.
    """

    offset: Address
    fields: dict[Identifier, int | tuple[int, ...]] = field(default_factory=dict)
    reset: Address = 0
    count: Annotated[int, Range(1, 1024)] = 1
    unmodelled: tuple[Identifier, ...] = ()
    values: dict[Identifier, tuple[int, ...]] = field(default_factory=dict)

    def known_values(self, name: str) -> tuple[int, ...] | None:
        """Return the values of a field that the virtual NPU models; None for all values."""
        return (0,) if name in self.unmodelled else self.values.get(name)


@dataclass(frozen=True)
class Npu:
    """The NPU of a chip.

    Attributes:
        units: units by the names in the manual.
        registers: registers by the name of the units that have them.
        gates: offsets of the registers of each clock, by name, in the unit that has the gates.
        sources: ports of the stream switch by the name of their units, in the order of their
            numbers.
        destinations: ports of the stream switch by the name of their units, in the order of their
            numbers.
    """

    units: dict[Identifier, NpuUnits]
    registers: dict[Identifier, dict[Identifier, NpuRegister]]
    gates: dict[Identifier, dict[Identifier, int]]
    sources: dict[Identifier, tuple[Identifier, ...]]
    destinations: dict[Identifier, tuple[Identifier, ...]]
