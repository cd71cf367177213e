"""Content of a report.

Addresses and sizes are in bytes, shares 0 to 1, times in seconds.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Literal

from n6build.base.files import to_json
from n6build.board.run.instructions import Meaning
from n6build.board.run.npu_epochs import HardwareEpoch
from n6build.board.run.registers import Register
from n6build.board.run.saturation import SaturatedUnit, saturated_units
from n6build.check.run import Result, counts
from n6build.compile.artifacts.buffer_lives import BufferLife
from n6build.compile.artifacts.timed_epochs import epoch_numbers
from n6build.engine.perform import DoneStep
from n6build.judge.accuracy.figures import Accuracy
from n6build.judge.npu.uses import NpuUse
from n6build.judge.own_blobs.epoch_grades import EpochGrade
from n6build.judge.timing.expected import NetworkTime
from n6build.tell.seen_picture import Seen

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
    """A memory, a flash slot or a region, with its parts."""

    name: str
    address: int
    size: int
    parts: tuple[Part, ...]

    @property
    def used(self) -> int:
        """Return the bytes under any part, counted once."""
        total = 0
        end = self.address
        for begin, stop in sorted((part.address, part.address + part.size) for part in self.parts):
            total += max(0, stop - max(begin, end))
            end = max(end, stop)
        return total


@dataclass(frozen=True)
class AddressRange:
    """Spaces on one axis, drawn to one scale.

    Attributes:
        title: Title of the axis.
        address: First address.
        size: Size in bytes; the range is [address, address + size).
        spaces: Memories, slots or regions on the axis.
        pools: The networks' memory pools on the axis.
    """

    title: str
    address: int
    size: int
    spaces: tuple[Space, ...]
    pools: tuple[Part, ...]


@dataclass(frozen=True)
class EpochRow:
    """An epoch, or all epochs in a blob of the epoch controller, which share a row.

    Attributes:
        index: ST's number of the epoch, or of the first epoch in a blob.
        kind: Operators of the epoch.
        unit: Unit that computes it.
        macs: None if the network compiler counted none for the whole network.
        bytes: Bytes read or written, 0 if unknown.
        cycles: None if the network was not run in this build.
        last: ST's number of the last epoch in a blob.
        count: Number of epochs in the row.
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
        """Return the numbers of the row's epochs, as `epoch_numbers`."""
        return epoch_numbers(self.index, self.index if self.last is None else self.last)


@dataclass(frozen=True)
class NpuSection:
    """Use of the NPU by a network.

    Attributes:
        use: None if it cannot be read.
        epochs: Epochs of the first inference on the virtual board, empty without one.
        problem: Reason for an unreadable use.
        grades: Grades of the epochs in blobs of backend neural_art, empty for another compiler.
    """

    use: NpuUse | None
    epochs: tuple[HardwareEpoch, ...] = ()
    problem: str = ""
    grades: tuple[EpochGrade, ...] = ()

    @property
    def saturated(self) -> tuple[SaturatedUnit, ...]:
        """Return the units with saturated values, those with the most losses first."""
        units = saturated_units(self.epochs)
        return tuple(sorted(units, key=lambda each: (-each.saturation.lost, each.saturation.bytes == 1, each.epoch)))

    @property
    def warned(self) -> tuple[EpochGrade, ...]:
        """Return the grades of epochs whose kind failed on a board."""
        return tuple(each for each in self.grades if each.failed)


@dataclass(frozen=True)
class NetworkSection:
    """A network in the report.

    Attributes:
        model: Name of the model.
        backend: Compiler of the network.
        inputs: One line for each input.
        outputs: One line for each output.
        weights_bytes: Size of the weights.
        activations_bytes: Size of the activations.
        epochs: Rows of the table of epochs.
        compared: Distance of its outputs from the reference in words, empty without a run.
        npu: None if no epoch is for the NPU.
        buffers: Buffers of activations and scratch, empty if their addresses or epochs are unknown.
        pools: Pools that it may use.
        time: Expected time; None if it was not requested.
        accuracy: Figures of its int8 file, if n6build made that; None otherwise.
        on_board: Figures of a run on a dataset by their names, in percent; empty without labels.
        seen: Its inputs as a picture; None if they are no pictures.
    """

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
    accuracy: Accuracy | None = None
    on_board: dict[str, float] = field(default_factory=dict)
    seen: Seen | None = None

    @property
    def macs(self) -> int:
        """Return the multiply-accumulate operations of all epochs, 0 if not counted."""
        return sum(epoch.macs or 0 for epoch in self.epochs)

    @property
    def epoch_count(self) -> int:
        """Return the number of epochs; each epoch in a blob counts."""
        return sum(epoch.count for epoch in self.epochs)

    def macs_on(self, unit: Unit) -> int:
        """Return the multiply-accumulate operations of the epochs on this unit."""
        return sum(epoch.macs or 0 for epoch in self.epochs if epoch.unit == unit)

    def epochs_on(self, unit: Unit) -> int:
        """Return the number of epochs on this unit."""
        return sum(epoch.count for epoch in self.epochs if epoch.unit == unit)

    def largest(self, count: int) -> list[EpochRow]:
        """Return the largest rows by MACs, then cycles, then bytes; the largest first."""
        return sorted(self.epochs, key=lambda epoch: (-(epoch.macs or 0), -(epoch.cycles or 0), -epoch.bytes))[:count]


@dataclass(frozen=True)
class RunSection:
    """A run on the virtual board in the report.

    Attributes:
        ended: One line on the end of the run, empty if inferences were made.
        findings: Findings of the virtual board, with source lines.
        registers: Registers that no model answers.
    """

    ended: str
    findings: tuple[str, ...]
    registers: tuple[Register, ...]


@dataclass(frozen=True)
class Report:
    """Content of a report.

    Attributes:
        application: Name of the application.
        board: Title of the board.
        profile: Memory profile.
        versions: Name and version of tools and libraries.
        networks: The networks.
        memory: Axes of the RAM.
        flash: Axis of the flash.
        elsewhere: Used ranges that no axis shows completely, since they are not inside a memory or
            region of the board.
        checks: Results of the checks.
        actions: Completed steps of this call of scons.
        seconds: Time of this call.
        plan_svg: Picture of the build plan, an element from `plan_svg` of n6build.engine.picture, or a
            paragraph in place of it; the page shows it unescaped. Empty without a plan.
        meanings: Cycles of the virtual board's instructions, empty if none were counted.
        run: None without a run.
        picture_png: Picture of the run as PNG: inputs with boxes, or a contact sheet; empty without one.
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
    picture_png: bytes = b""


def urgency(result: Result) -> tuple[int, str]:
    """Return a sort key of a check.

    The order is failed errors, failed warnings, waived, passed, not applicable, and the id in each group.
    """
    failed = {"error": 0, "warning": 1}[result.severity]
    return {"failed": failed, "waived": 2, "passed": 3, "not applicable": 4}[result.state], result.id


def report_json(report: Report) -> str:
    """Return the fields of `Report` under their names, as JSON.

    The pictures are left out. Additional fields are the `used` bytes of each space, and check_counts, the
    number of checks in each state.
    """
    document = asdict(report)
    document["check_counts"] = counts(report.checks)
    del document["plan_svg"], document["picture_png"]
    for network in document["networks"]:
        del network["seen"]
    for axis, written in zip((*report.memory, report.flash), (*document["memory"], document["flash"]), strict=True):
        for space, written_space in zip(axis.spaces, written["spaces"], strict=True):
            written_space["used"] = space.used
    return to_json(document)
