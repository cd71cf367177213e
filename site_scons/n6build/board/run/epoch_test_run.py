"""Run of the virtual board with tensors of the reference for each epoch.

Search for epochs that read a buffer without a tensor of the reference. The search uses the memory
that the stream engines touched.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import read_at_most, write_atomically
from n6build.board.run.compare import check_going
from n6build.board.run.console_log import ConsoleLog, ends_run, read_console
from n6build.board.run.epoch_bounds import Bounds, bounds_of
from n6build.board.run.epoch_test import FedEpoch, Watched, fed, handed_over, request, watched
from n6build.board.run.npu_epochs import first_inferences, hardware_epochs
from n6build.board.run.reference import model_inputs
from n6build.board.run.saturation import SaturatedUnit, saturated_units
from n6build.board.run.session import longest_line
from n6build.board.run.stops import say_stops
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.findings import show_findings
from n6build.board.virtual_board.npu_files import NpuFiles
from n6build.board.virtual_board.npu_record import NpuEpoch, read_npu_record
from n6build.board.virtual_board.run import NorBoot, run_nor
from n6build.compile.artifacts.description import EpochBlock, NetworkArtifacts
from n6build.compile.artifacts.made_buffers import MadeBuffer, made_buffers
from n6build.describe.hardware.npu import Npu
from n6build.describe.model import EpochTolerance
from n6build.judge.compare.buffers import UnjoinedBuffer, join_buffers
from n6build.judge.compare.interpret import interpret
from n6build.judge.npu.contradiction import Contradiction
from n6build.place.memory_plan.vectors import read_vectors, rows


def reading_others(
    record: Sequence[NpuEpoch],
    network: int,
    blocks: Sequence[EpochBlock],
    buffers: Sequence[MadeBuffer],
    replaced: Collection[str],
) -> dict[int, int]:
    """Return the epochs that read a buffer which was not replaced.

    Keys and values are ST's numbers: the reading epoch, and the epoch that made its buffer. The record
    has no accesses of the CPU, so that no epoch of the CPU is a key.

    Args:
        record: NPU epochs of the run.
        network: Index of the network in the application.
        blocks: All epoch blocks of the network.
        buffers: All buffers of the network.
        replaced: Names of the replaced buffers.
    """
    found: dict[int, int] = {}
    for run in record:
        if run.network != network or run.place is None or run.place >= len(blocks):
            continue
        block = blocks[run.place]
        epoch = run.label if run.by_blob and block.mapping == "NODE_EC" else block.first
        for unit in run.units:
            sources = _latest(unit.first, unit.end, epoch, buffers) if unit.reads else []
            # One memory may have several names, of which one is replaced.
            own = any(source.epoch == epoch or source.name in replaced for source in sources)
            if sources and not own:
                found.setdefault(epoch, sources[0].epoch)
    return found


def _latest(first: int, end: int, epoch: int, buffers: Sequence[MadeBuffer]) -> list[MadeBuffer]:
    """Return the last buffers made in an engine's memory until this epoch."""
    there = [
        each
        for each in buffers
        # An epoch reads the partial sums that it writes; a tensor that it writes may replace the one that it reads.
        if each.address is not None
        and (each.epoch < epoch or (each.epoch == epoch and not each.type))
        and each.address < end
        and first < each.address + each.bytes
    ]
    last = max((each.epoch for each in there), default=0)
    return [each for each in there if each.epoch == last]


# Enough for the numbers of 4096 lines.
_MOST_BYTES_OF_NUMBERS = 1 << 16


@dataclass(frozen=True)
class FedNetwork:
    """A network of the application and its reference.

    Attributes:
        model: Name of the model.
        artifacts: Files of the compiled network.
        reference: Model file for the reference interpreter.
        inputs: File with test vectors; only the first vector is used.
        tolerance: Allowed distance of each epoch; None for the bounds that its constants give.
    """

    model: str
    artifacts: NetworkArtifacts
    reference: Path
    inputs: Path
    tolerance: EpochTolerance | None


@dataclass(frozen=True)
class NotCompared:
    """A buffer that cannot be compared.

    Attributes:
        epoch: ST's number of the epoch that makes it.
        buffer: Name of the buffer.
        why: The reason.
    """

    epoch: int
    buffer: str
    why: str


@dataclass(frozen=True)
class FedOutcome:
    """Compared epochs of a network.

    Attributes:
        model: Name of the model.
        reference: File name of the reference.
        tolerance: Allowed distance of each epoch; None for the bounds that its constants give.
        epochs: Compared buffers, in the order of epochs.
        not_compared: Other buffers, in the order of epochs.
        saturated: Units of the NPU whose formats did not hold all values, in the order of epochs.
        contradictions: Constants that do not follow from the model, in the order of epochs; none with a
            tolerance.
    """

    model: str
    reference: str
    tolerance: EpochTolerance | None
    epochs: tuple[FedEpoch, ...]
    not_compared: tuple[NotCompared, ...]
    saturated: tuple[SaturatedUnit, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()

    @property
    def losing(self) -> tuple[SaturatedUnit, ...]:
        """Return the units that lost values by saturation."""
        return tuple(each for each in self.saturated if each.saturation.lost)

    @property
    def first_wrong(self) -> FedEpoch | None:
        """Return the first epoch outside its tolerance, or None."""
        return next((epoch for epoch in self.epochs if not epoch.good), None)


@dataclass(frozen=True)
class _Prepared:
    """Buffers of a network by the way to read them.

    Attributes:
        network: The network.
        buffers: All buffers of the network, those without a quantisation, too.
        watched: Buffers that the board returns.
        in_outputs: Outputs that only the console has.
        others: Buffers that cannot be compared.
        bounds: Bounds of the compared buffers.
    """

    network: FedNetwork
    buffers: tuple[MadeBuffer, ...]
    watched: list[Watched]
    in_outputs: list[Watched]
    others: list[UnjoinedBuffer]
    bounds: Bounds


def run_fed(
    boot: NorBoot, networks: Sequence[FedNetwork], programs: Sequence[Path], on_line: Callable[[str], None]
) -> tuple[tuple[FedOutcome, ...], tuple[str, ...]]:
    """Run the networks on tensors of the reference and compare each epoch.

    Args:
        boot: Images and options of the virtual board.
        networks: In the order of the application.
        programs: ELF files, for source lines.
        on_line: Called with each line of the console.

    Returns:
        The outcome of each network, and the findings of the virtual board.

    Raises:
        N6Error: N6-COMPARE-00x; N6-RUN-001; N6-RUN-012 if the files of a network list no buffers.
    """
    prepared = [_prepared(index, network, boot.board.soc.npu) for index, network in enumerate(networks)]
    everything = [each for one in prepared for each in one.watched]
    with tempfile.TemporaryDirectory(prefix="n6virt-tensors-") as folder:
        tensors = Path(folder) / "tensors"
        lines, data = request(everything)
        write_atomically(tensors, lines.encode())
        write_atomically(tensors.with_name("tensors.in"), data)
        result = run_nor(
            find_emulator(boot.board.soc),
            replace(boot, npu=NpuFiles(record=tensors.with_name("record"), tensors=tensors)),
            programs=programs,
            stop=ends_run,
            on_line=on_line,
            longest_line=longest_line([network.artifacts for network in networks]),
        )
        log = read_console(result.lines)
        findings = show_findings(result.findings)
        say_stops(boot.board, programs, result, ended_early=log.done is None)
        if not findings:
            check_going(log)
        made = read_at_most(tensors.with_name("tensors.out"), len(data))
        done = read_at_most(tensors.with_name("tensors.done"), _MOST_BYTES_OF_NUMBERS)
        record = read_npu_record(tensors.with_name("record"))
    handed = _Handed(made, _whole_numbers(done), record)
    return tuple(_outcomes(prepared, handed, log)), findings


def _whole_numbers(lines: bytes) -> frozenset[int]:
    """Return the numbers of complete lines; a killed program may cut off the last."""
    return frozenset(int(line) for line in lines.split(b"\n")[:-1] if line.isdigit() and len(line) < 10)


def _prepared(index: int, network: FedNetwork, npu: Npu) -> _Prepared:
    artifacts = network.artifacts
    made = made_buffers(artifacts.source.parent, artifacts.name)
    if not made.buffers:
        what = "network.c and c_info do not list the buffers between epochs"
        hint = "compile the network with --all-buffers-info, or put its c_info beside it"
        raise N6Error("N6-RUN-012", what, where=artifacts.source.name, hint=hint)
    row = rows(read_vectors(network.inputs))[0]
    tensors = interpret(network.reference, model_inputs(network.reference, artifacts, row))
    joined, others = join_buffers(made, tensors)
    found, more = watched(index, joined, artifacts.blocks)
    outputs = {port.name for port in artifacts.outputs}
    placed = [each for each in found if each.joined.buffer.address is not None]
    printed = [each for each in found if each.joined.buffer.address is None and each.joined.buffer.name in outputs]
    others += [
        UnjoinedBuffer(each.joined.buffer, "it has no fixed address")
        for each in found
        if each not in (*placed, *printed)
    ]
    bounds = bounds_of(artifacts, network.reference, tensors, [*placed, *printed], npu)
    return _Prepared(network, made.buffers, placed, printed, [*others, *more], bounds)


@dataclass(frozen=True)
class _Handed:
    """Data that the board returned.

    Attributes:
        data: Bytes of the buffers.
        done: Numbers of the lines that it carried out.
        record: NPU epochs of the run.
    """

    data: bytes
    done: frozenset[int]
    record: tuple[NpuEpoch, ...]


def _outcomes(prepared: Sequence[_Prepared], handed: _Handed, log: ConsoleLog) -> Sequence[FedOutcome]:
    outcomes = []
    parts = iter(handed_over([one for each in prepared for one in each.watched], handed.data, handed.done))
    inference = 0
    computed = first_inferences(handed.record, len(prepared))
    for index, each in enumerate(prepared):
        artifacts, tolerance = each.network.artifacts, each.network.tolerance
        made = [(one, next(parts)) for one in each.watched]
        made += [(one, _printed(log, inference, each, one)) for one in each.in_outputs]
        replaced = {one.joined.buffer.name for one, data in made if data is not None}
        own = reading_others(handed.record, index, artifacts.blocks, each.buffers, replaced)
        epochs = [
            fed(one, data, artifacts.epochs, tolerance, own, each.bounds.of(one))
            for one, data in made
            if data is not None
        ]
        others = [
            *each.others,
            *(UnjoinedBuffer(one.joined.buffer, "its epoch did not run") for one, data in made if data is None),
        ]
        inference += read_vectors(each.network.inputs).count
        outcomes.append(
            FedOutcome(
                each.network.model,
                each.network.reference.name,
                tolerance,
                tuple(sorted(epochs, key=lambda epoch: epoch.epoch)),
                tuple(
                    NotCompared(one.buffer.epoch, one.buffer.name, one.why)
                    for one in sorted(others, key=lambda one: one.buffer.epoch)
                ),
                saturated_units(hardware_epochs(computed[index], artifacts)),
                each.bounds.contradictions if tolerance is None else (),
            )
        )
    return outcomes


def _printed(log: ConsoleLog, inference: int, prepared: _Prepared, output: Watched) -> bytes | None:
    """Return an output from the console, in a network's first inference, or None.

    The application allocates such an output, so that its address is unknown. None means that the run
    ended before.
    """
    names = [port.name for port in prepared.network.artifacts.outputs]
    outputs = log.inferences[inference].outputs if inference in log.inferences else {}
    data = outputs.get(names.index(output.joined.buffer.name))
    return data if data is not None and len(data) == len(output.wanted) else None
