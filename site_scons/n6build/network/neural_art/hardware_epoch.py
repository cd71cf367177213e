"""An epoch of the NPU without addresses: units with their registers, links between them; and how one is put together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from n6build.hardware.npu import Npu
from n6build.network.neural_art.registers import Port
from n6build.network.reference.epochs import Address

# What an engine may read ahead of the end of its last frame: as many bytes behind every buffer have to be readable.
READ_AHEAD = 64


@dataclass(frozen=True)
class Limit:
    """The address that an engine never reads beyond. end: behind the last byte of its frames."""

    end: Address


Value = int | Address | Limit


@dataclass(frozen=True)
class Setting:
    """Values for registers that follow each other, the first one's number in its unit; repeated: all for that one."""

    register: int
    values: tuple[Value, ...]
    repeated: bool = False


@dataclass(frozen=True)
class Unit:
    """control: of CTRL, without EN. writes: an engine that writes memory. reset: value of CTRL after a reset."""

    kind: str
    index: int
    control: int
    settings: tuple[Setting, ...]
    writes: bool = False
    reset: int = 0

    @property
    def output(self) -> Port:
        """What comes out of it."""
        return Port(self.kind, self.index)

    def input(self, port: int = 0) -> Port:
        """What goes into it."""
        return Port(self.kind, self.index, port)


@dataclass(frozen=True)
class HardwareEpoch:
    """kind: for people. operators: of the model file. reads, writes: names of buffers. initializers: names. macs: that the units
    execute. useful: of those, the ones that the operator has. moved: bytes that the engines move."""

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

    @property
    def label(self) -> str:
        """'Conv2D_4 1x1 deep'."""
        return f"{self.node} {self.kind}"


def ends_of_writes(epochs: Iterable[HardwareEpoch]) -> dict[str, int]:
    """For each buffer, how many bytes of it and of what is behind it epochs write: where a layer has fewer outputs than a frame
    of kernels, those of kernels of zeros are written, too."""
    ends: dict[str, int] = {}
    writers = (unit for epoch in epochs for unit in epoch.units if unit.writes)
    for value in (value for unit in writers for setting in unit.settings for value in setting.values):
        if isinstance(value, Limit):
            ends[value.end.name] = max(ends.get(value.end.name, 0), value.end.offset)
    return ends


@dataclass
class EpochBuilder:
    """One epoch while its units are added. Numbers units of each kind in the order in which they come."""

    npu: Npu
    kind: str
    node: str
    operators: tuple[int, ...]
    useful: int = 0
    macs: int = 0
    moved: int = 0
    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    initializers: list[str] = field(default_factory=list)
    units: list[Unit] = field(default_factory=list)
    links: list[tuple[Port, Port]] = field(default_factory=list)

    def next_index(self, kind: str) -> int:
        """Of the next unit of this kind. Raises ValueError where the NPU has no more of them."""
        index = sum(unit.kind == kind for unit in self.units)
        if index >= self.npu.units[kind].count:
            raise ValueError(f"{self.kind} needs more than {index} units {kind}")
        return index

    def add(self, unit: Unit) -> Unit:
        """The unit itself."""
        self.units.append(unit)
        return unit

    def link(self, source: Unit, destination: Unit, port: int = 0) -> None:
        """Every frame of one unit goes to the other."""
        self.links.append((destination.input(port), source.output))

    def done(self) -> HardwareEpoch:
        """The epoch."""
        return HardwareEpoch(
            self.kind,
            self.node,
            self.operators,
            _once(self.reads),
            _once(self.writes),
            _once(self.initializers),
            tuple(self.units),
            tuple(self.links),
            self.macs,
            self.useful,
            self.moved,
        )


def _once(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
