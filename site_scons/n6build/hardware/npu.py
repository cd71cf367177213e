"""What is known about the NPU: its units, their registers and fields, and what of them the virtual NPU models."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from n6build.base.yaml_schema import Address, Identifier, Range


@dataclass(frozen=True)
class NpuGate:
    """clock: of the NPU, which the gate opens. bit: in the registers of that clock."""

    clock: Literal["A", "B"]
    bit: Annotated[int, Range(0, 31)]


@dataclass(frozen=True)
class NpuUnits:
    """Units of one kind, one behind the other. first: number of the first, of 4 KiB from the NPU's base. kind: what VERSION
    of each answers (ST's ATON.h). version: major and minor, from there. count: how many there are. gate: of the first one's
    clock, the others' follow it bit by bit; None for the unit that has the gates. modelled: whether the virtual NPU knows
    them."""

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
    """offset: in the unit. fields: a bit, or [lowest, highest]. reset: its value after a reset. count: of a kind, a word each.
    unmodelled: fields that the virtual NPU only knows as 0. values: of other fields, those that it knows."""

    offset: Address
    fields: dict[Identifier, int | tuple[int, ...]] = field(default_factory=dict)
    reset: Address = 0
    count: Annotated[int, Range(1, 1024)] = 1
    unmodelled: tuple[Identifier, ...] = ()
    values: dict[Identifier, tuple[int, ...]] = field(default_factory=dict)

    def known_values(self, name: str) -> tuple[int, ...] | None:
        """Of a field, those that the virtual NPU models; None: all."""
        return (0,) if name in self.unmodelled else self.values.get(name)


@dataclass(frozen=True)
class Npu:
    """units: by the names that the manual has for them. gates: offsets, in the unit that has them, of the registers of each
    clock, by name. sources, destinations: ports of the stream switch, by the name of the units that have them, in the order of
    their numbers. registers: by the name of the units that have them."""

    units: dict[Identifier, NpuUnits]
    registers: dict[Identifier, dict[Identifier, NpuRegister]]
    gates: dict[Identifier, dict[Identifier, int]]
    sources: dict[Identifier, tuple[Identifier, ...]]
    destinations: dict[Identifier, tuple[Identifier, ...]]
