"""The content of a report. Addresses and sizes are bytes, shares 0 to 1, times seconds."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Literal

from n6build.base.files import to_json
from n6build.checks.run import Result, counts
from n6build.network.artifacts.buffer_lives import BufferLife
from n6build.network.artifacts.timed_epochs import epoch_numbers
from n6build.npu.uses import NpuUse
from n6build.own_blobs.epoch_grades import EpochGrade
from n6build.plan.perform import DoneStep
from n6build.run.instructions import Meaning
from n6build.run.npu_epochs import HardwareEpoch
from n6build.run.registers import Register
from n6build.timing.expected import NetworkTime

Kind = Literal["weights", "activations", "program", "vectors", "pool"]
Unit = Literal["NPU", "CPU", "both"]


@dataclass(frozen=True)
class Part:
    """A used range [address, address + size)."""

    label: str
    kind: Kind
    address: int
    size: int


@dataclass(frozen=True)
class Space:
    """A memory, a flash slot or a region, and what it holds."""

    name: str
    address: int
    size: int
    parts: tuple[Part, ...]

    @property
    def used(self) -> int:
        """Bytes under any part, counted once."""
        total = 0
        end = self.address
        for begin, stop in sorted((part.address, part.address + part.size) for part in self.parts):
            total += max(0, stop - max(begin, end))
            end = max(end, stop)
        return total


@dataclass(frozen=True)
class AddressRange:
    """Spaces on one axis, drawn to one scale: [address, address + size). pools: the networks' memory pools on it."""

    title: str
    address: int
    size: int
    spaces: tuple[Space, ...]
    pools: tuple[Part, ...]


@dataclass(frozen=True)
class EpochRow:
    """index: ST's number of the epoch, of the first where a blob of the epoch controller holds several, which share a row.

    macs: None where the network compiler counted none for the whole network. bytes: read or written, 0 if unknown. cycles: None
    if the network was not run in this build. last: ST's number of the last epoch in a blob. count: epochs in the row.
    """

    index: int
    kind: str
    unit: Unit
    macs: int | None
    bytes: int
    cycles: int | None
    last: int | None = None
    count: int = 1

    @property
    def number(self) -> str:
        """As `epoch_numbers`."""
        return epoch_numbers(self.index, self.index if self.last is None else self.last)


@dataclass(frozen=True)
class NpuSection:
    """use: None if it cannot be read, for the reason `problem`. epochs: of the first inference on the virtual board, empty if
    none was made there. grades: of the epochs in blobs of backend neural_art, empty for another compiler's."""

    use: NpuUse | None
    epochs: tuple[HardwareEpoch, ...] = ()
    problem: str = ""
    grades: tuple[EpochGrade, ...] = ()

    @property
    def warned(self) -> tuple[EpochGrade, ...]:
        """Of a kind that failed on a board."""
        return tuple(each for each in self.grades if each.failed)


@dataclass(frozen=True)
class NetworkSection:
    """inputs, outputs: one line each. compared: how far its outputs are from the reference, empty if nothing ran. npu: None if no
    epoch is for the NPU. buffers: of activations and scratch; empty where their addresses or epochs are not known. pools: that
    it may use. time: that it is expected to take; None where nobody asked."""

    model: str
    backend: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    weights_bytes: int
    activations_bytes: int
    epochs: tuple[EpochRow, ...]
    compared: tuple[str, ...] = ()
    npu: NpuSection | None = None
    buffers: tuple[BufferLife, ...] = ()
    pools: tuple[Part, ...] = ()
    time: NetworkTime | None = None

    @property
    def macs(self) -> int:
        """Multiply-accumulate operations of all epochs; 0 where the network compiler counted none."""
        return sum(epoch.macs or 0 for epoch in self.epochs)

    @property
    def epoch_count(self) -> int:
        """Number of epochs, each one of a blob counted."""
        return sum(epoch.count for epoch in self.epochs)

    def macs_on(self, unit: Unit) -> int:
        """Multiply-accumulate operations of the epochs on this unit."""
        return sum(epoch.macs or 0 for epoch in self.epochs if epoch.unit == unit)

    def epochs_on(self, unit: Unit) -> int:
        """Number of epochs on this unit."""
        return sum(epoch.count for epoch in self.epochs if epoch.unit == unit)

    def largest(self, count: int) -> list[EpochRow]:
        """The rows with the most MACs, cycles or bytes, whichever is known first; the largest first."""
        return sorted(self.epochs, key=lambda epoch: (-(epoch.macs or 0), -(epoch.cycles or 0), -epoch.bytes))[:count]


@dataclass(frozen=True)
class RunSection:
    """What a run on the virtual board had to say. ended: one line, empty if inferences were made. findings: what the board
    objects to, with source lines."""

    ended: str
    findings: tuple[str, ...]
    registers: tuple[Register, ...]


@dataclass(frozen=True)
class Report:
    """elsewhere: used ranges that are not completely inside a memory or region of the board, so that no axis shows all of
    them.

    versions: of tools and libraries. actions: steps that this call of scons has done. plan_svg: picture of the build plan, an
    element made by `plan_svg` of n6build.plan.picture, which the page shows as it is; empty: no picture. meanings: what the
    virtual board's instructions say of cycles, empty where none were counted. run: None if nothing ran.
    """

    application: str
    board: str
    profile: str
    versions: tuple[tuple[str, str], ...]
    networks: tuple[NetworkSection, ...]
    memory: tuple[AddressRange, ...]
    flash: AddressRange
    elsewhere: tuple[Part, ...]
    checks: tuple[Result, ...]
    actions: tuple[DoneStep, ...]
    seconds: float
    plan_svg: str = ""
    meanings: dict[str, Meaning] = field(default_factory=dict)
    run: RunSection | None = None


def urgency(result: Result) -> tuple[int, str]:
    """Sort key: failed errors, failed warnings, waived, passed, not applicable; within each by id."""
    failed = {"error": 0, "warning": 1}[result.severity]
    return {"failed": failed, "waived": 2, "passed": 3, "not applicable": 4}[result.state], result.id


def report_json(report: Report) -> str:
    """The fields of `Report` under their names, except the picture; with the `used` bytes of each space, and check_counts,
    the number of checks in each state."""
    document = asdict(report)
    document["check_counts"] = counts(report.checks)
    del document["plan_svg"]
    for axis, written in zip((*report.memory, report.flash), (*document["memory"], document["flash"]), strict=True):
        for space, written_space in zip(axis.spaces, written["spaces"], strict=True):
            written_space["used"] = space.used
    return to_json(document)
