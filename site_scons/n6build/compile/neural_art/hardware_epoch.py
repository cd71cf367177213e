"""Epochs of the NPU without addresses: units with registers, and links."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from n6build.base.same_fields import with_fields_of
from n6build.compile.neural_art.registers import DoesNotFit, Port
from n6build.compile.reference.epochs import Address
from n6build.describe.hardware.npu import Npu

# Bytes that an engine may read beyond the end of its last frame. As many bytes behind every buffer have to be readable.
READ_AHEAD = 64


@dataclass(frozen=True)
class Limit:
    """The address that an engine never reads beyond.

    Attributes:
        end: Address behind the last byte of its frames.
    """

    end: Address


Value = int | Address | Limit


@dataclass(frozen=True)
class Setting:
    """Values for consecutive registers of a unit.

    Attributes:
        register: Number of the first register in its unit.
        values: Values of the registers.
        repeated: Whether all values are for the first register.
    """

    register: int
    values: tuple[Value, ...]
    repeated: bool = False


@dataclass(frozen=True)
class Unit:
    """A unit of the NPU with its registers.

    Attributes:
        kind: Kind of the unit.
        index: Index among the units of this kind.
        control: Value of CTRL, without EN.
        settings: Values of its other registers.
        writes: Whether it is an engine that writes memory.
        reset: Value of CTRL after a reset.
    """

    kind: str
    index: int
    control: int
    settings: tuple[Setting, ...]
    writes: bool = False
    reset: int = 0

    @property
    def output(self) -> Port:
        """Return the port of the unit's output."""
        return Port(self.kind, self.index)

    def input(self, port: int = 0) -> Port:
        """Return a port of the unit's inputs."""
        return Port(self.kind, self.index, port)


@dataclass(frozen=True)
class HardwareEpoch:
    """An epoch of the NPU.

    Attributes:
        kind: Description for people.
        node: Name of the node.
        operators: Operators of the model file.
        reads: Names of the buffers that it reads.
        writes: Names of the buffers that it writes.
        initializers: Names of the initializers that it reads.
        units: Units with their registers.
        links: Links of the stream switch: (destination, source).
        macs: Multiply-accumulates that the units execute.
        useful: Multiply-accumulates that the operator has.
        moved: Bytes that the engines move.
        lost: Most steps of the output by which the shift to 16 bits changes a sum.
    """

    kind: str
    node: str
    operators: tuple[int, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    initializers: tuple[str, ...]
    units: tuple[Unit, ...]
    links: tuple[tuple[Port, Port], ...]
    macs: int
    useful: int
    moved: int
    lost: float

    @property
    def label(self) -> str:
        """Return a name such as 'Conv2D_4 1x1 deep'."""
        return f"{self.node} {self.kind}"


def ends_of_writes(epochs: Iterable[HardwareEpoch]) -> dict[str, int]:
    """Return the end of the bytes that epochs write of each buffer and behind it.

    If a layer has fewer outputs than a frame of kernels, those of kernels of zeros are written,
    too.
    """
    ends: dict[str, int] = {}
    writers = (unit for epoch in epochs for unit in epoch.units if unit.writes)
    for value in (value for unit in writers for setting in unit.settings for value in setting.values):
        if isinstance(value, Limit):
            ends[value.end.name] = max(ends.get(value.end.name, 0), value.end.offset)
    return ends


@dataclass
class EpochBuilder:
    """An epoch while its units are added.

    Units of each kind are numbered in the order in which they are added.
    """

    npu: Npu
    kind: str
    node: str
    operators: tuple[int, ...]
    useful: int = 0
    macs: int = 0
    moved: int = 0
    lost: float = 0.0
    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    initializers: list[str] = field(default_factory=list)
    units: list[Unit] = field(default_factory=list)
    links: list[tuple[Port, Port]] = field(default_factory=list)

    def next_index(self, kind: str) -> int:
        """Return the index of the next unit of this kind.

        Raises:
            DoesNotFit: If the NPU has no more units of this kind.
        """
        index = sum(unit.kind == kind for unit in self.units)
        if index >= self.npu.units[kind].count:
            raise DoesNotFit(f"{self.kind} needs more than {index} units {kind}")
        return index

    def add(self, unit: Unit) -> Unit:
        """Add a unit and return it."""
        self.units.append(unit)
        return unit

    def link(self, source: Unit, destination: Unit, port: int = 0) -> None:
        """Send every frame of one unit to another one."""
        self.links.append((destination.input(port), source.output))

    def done(self) -> HardwareEpoch:
        """Return the complete epoch."""
        return with_fields_of(
            HardwareEpoch,
            self,
            reads=_once(self.reads),
            writes=_once(self.writes),
            initializers=_once(self.initializers),
            units=tuple(self.units),
            links=tuple(self.links),
        )


def _once(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
