"""Boots the virtual board on what was flashed and judges what it printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from n6build.base.bounded import decode_json
from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.base.files import read_bytes
from n6build.base.size_text import counted
from n6build.memory_plan.vectors import read_vectors, rows
from n6build.models.model import Tolerance
from n6build.network.artifacts.description import EpochBlock, NetworkArtifacts
from n6build.run.compare import Verdict, check_appli, check_complete, cosine_text, judge
from n6build.run.console_log import EpochCycles, Inference, ends_run, read_console
from n6build.run.instructions import Meaning
from n6build.run.registers import Register, registers_of
from n6build.virtual_board.build import find_emulator
from n6build.virtual_board.findings import show_findings
from n6build.virtual_board.npu_record import NpuEpoch
from n6build.virtual_board.recording import Recording
from n6build.virtual_board.run import LONGEST_LINE, NorBoot, run_nor


@dataclass(frozen=True)
class RunModel:
    """What a run needs to know of a model. inputs, expected: files with its test vectors. labels: one for each vector, or
    none. classes: of its output. tolerance: None where its outputs have to be equal. against: what the expected outputs are,
    in words. not_compared: why there are none. is_seeded: whether inputs are random."""

    name: str
    inputs: Path
    expected: Path | None
    labels: tuple[str, ...]
    classes: tuple[str, ...]
    tolerance: Tolerance | None = None
    against: str = ""
    not_compared: str = ""
    is_seeded: bool = False


@dataclass(frozen=True)
class ExpectedMs:
    """low, high: ms; high is None where only a lower bound is known."""

    low: float
    high: float | None


@dataclass(frozen=True)
class NetworkOutcome:
    """model: its name. verdicts: of all inferences, in their order. epoch_cycles: of the first inference, by ST's number of
    the epoch; by that of the first where a blob holds several. tolerance, against, not_compared, is_seeded: as of `RunModel`.
    npu_epochs: of the first inference, too, in their order; empty on a real board. expected: of an inference on the chip."""

    model: str
    verdicts: tuple[Verdict, ...]
    epoch_cycles: dict[int, EpochCycles]
    tolerance: Tolerance | None = None
    against: str = ""
    not_compared: str = ""
    npu_epochs: tuple[NpuEpoch, ...] = ()
    expected: ExpectedMs | None = None
    is_seeded: bool = False


@dataclass(frozen=True)
class Watched:
    """A program that was only watched. until: what it had to reach. why_not: empty if it did. instructions: until then. at:
    where the program was, a source line, a symbol or an address. lines: of its console."""

    until: str
    why_not: str
    instructions: int
    at: str
    lines: int

    @property
    def sentence(self) -> str:
        """How it ended."""
        how = f"after {self.instructions:,} instructions, at {self.at}"
        return f"without {self.until}: {self.why_not}; {how}" if self.why_not else f"reached {self.until} {how}"


@dataclass(frozen=True)
class Outcome:
    """board: its name. networks: what came of each. findings: what the virtual board objects to, as text with source lines.
    models: relocatable ones, (slot, revision). registers: those that no model answers. watched: None if inferences were made.

    clock_hz: of the CPU. counts: the virtual board counts instructions, as if each took a cycle; meanings: what they say of
    cycles, by kind of code.
    """

    board: str
    clock_hz: int
    counts: Literal["cycles", "instructions"]
    networks: tuple[NetworkOutcome, ...]
    findings: tuple[str, ...]
    models: dict[str, tuple[int, int]]
    meanings: dict[str, Meaning] = field(default_factory=dict)
    registers: tuple[Register, ...] = ()
    watched: Watched | None = None

    def raise_if_wrong(self) -> None:
        """Raises N6-RUN-004 for findings, N6-RUN-005 for outputs that differ too much, N6-RUN-008 if a program that was
        watched did not get where it had to, whatever else there is to object to."""
        if self.watched:
            if self.watched.why_not:
                what = f"the run ended before it reached {self.watched.until}: {self.watched.why_not}"
                raise N6Error("N6-RUN-008", what, where=self.watched.at, hint="gdb=1 looks into the program")
            return
        if self.findings:
            raise N6Error(
                "N6-RUN-004", f"the virtual board has {counted(len(self.findings), 'finding')}", where=self.findings[0]
            )
        for network in self.networks:
            raise_if_different(network)


def raise_if_different(network: NetworkOutcome) -> None:
    """Raises N6-RUN-005, which says by how much and which output."""
    wrong = [verdict for verdict in network.verdicts if verdict.passes is False]
    if not wrong:
        return
    first = wrong[0]
    how_many = f"{len(wrong)} of {len(network.verdicts)} outputs"
    tolerance = network.tolerance
    outside = next((each for each in first.outputs if not each.within(tolerance)), None) if tolerance else None
    if tolerance is None or outside is None:
        output = next((each for each in first.outputs if each.equal < each.elements), None)
        bytes_wrong = sum(verdict.different_bytes for verdict in wrong)
        what = f"{how_many} differ from the reference interpreter, {bytes_wrong} bytes"
        hint = None
    else:
        output = outside
        wanted = f"cosine {cosine_text(output.cosine)} of at least {tolerance.cosine:g}"
        another = "another top-1, " if tolerance.top1 and output.top1 is False else ""
        what = (
            f"{how_many} are further from the reference interpreter than the facts say of the chip: {another}{wanted}"
        )
        hint = "tolerance in model.yaml, if the network is known to be that sensitive"
    place = f", output {output.name}" if output else ""
    raise N6Error("N6-RUN-005", what, where=f"model {network.model}, vector {first.index}{place}", hint=hint)


@dataclass(frozen=True)
class Started:
    """What the firmware says of its relocatable models: (slot, revision) of those that run, why others are refused."""

    models: dict[str, tuple[int, int]]
    refused: dict[tuple[str, int], str]


def read_outcome(path: Path) -> Outcome:
    """Of run.json. Raises N6-RUN-007 where the file is not the result of a run."""
    try:
        outcome = decode_json(read_bytes(path), Outcome)
        if outcome.clock_hz < 1:
            raise ValueError(f"a clock of {outcome.clock_hz} Hz")
        return outcome
    except ValueError as error:
        raise N6Error("N6-RUN-007", f"is not a result of a run: {error}", where=path.name, hint="scons run") from error


def start_virtual_board(boot: NorBoot, models: int, programs: Sequence[Path]) -> Started:
    """Boots until `models` models have started, or the firmware has nothing more to say. Raises
    N6-RUN-001 for a fault, N6-RUN-006 where no firmware starts that knows relocatable models."""
    started: set[str] = set()

    def enough(line: str) -> bool:
        started.update(read_console([line]).models)
        return ends_run(line) or len(started) >= models

    result = run_nor(
        find_emulator(boot.board.soc),
        boot,
        programs=programs,
        stop=enough,
        on_line=show_line,
    )
    log = read_console(result.lines)
    if log.fault:
        raise N6Error("N6-RUN-001", f"the firmware faulted: {log.fault}")
    if not log.models and not log.refused:
        why = (
            str(result.findings[0])
            if result.findings
            else log.error[1]
            if log.error
            else "it prints nothing about models"
        )
        what = f"the board starts no application for relocatable models: {why}"
        raise N6Error("N6-RUN-006", what, hint="scons ... loader=reloc flash programs FSBL and Appli, too")
    return Started(log.models, log.refused)


def run_on_virtual_board(
    boot: NorBoot,
    networks: Sequence[tuple[RunModel, NetworkArtifacts]],
    programs: Sequence[Path],
    *,
    heard: Recording | None,
    gdb: bool,
    on_line: Callable[[str], None],
) -> Outcome:
    """networks: in the order of the application. programs: ELF files, for source lines. heard: by the board's microphones.
    on_line: called with each line of the console. Raises as `check_complete`, unless there are findings."""
    result = run_nor(
        find_emulator(boot.board.soc),
        replace(boot, heard=heard),
        programs=programs,
        stop=ends_run,
        on_line=on_line,
        longest_line=longest_line([artifacts for _, artifacts in networks]),
        gdb=gdb,
    )
    log = read_console(result.lines)
    findings = show_findings(result.findings)
    counts = [_runs_of(model) for model, _ in networks]
    if not findings:
        check_complete(log, sum(counts))
        check_appli(log)
    outcomes = []
    first = 0
    for (model, artifacts), count in zip(networks, counts, strict=True):
        inferences = [each for number, each in sorted(log.inferences.items()) if first <= number < first + count]
        expected = rows(read_vectors(model.expected)) if model.expected else []
        outcomes.append(outcome_of(model, artifacts, inferences, expected, model.labels))
        first += count
    board = boot.board
    clock_hz = log.clock_hz or board.clock.cpu_hz
    registers = registers_of(board, result.unmodelled)
    return Outcome(board.name, clock_hz, "instructions", tuple(outcomes), findings, log.models, registers=registers)


def longest_line(networks: Sequence[NetworkArtifacts]) -> int:
    """Characters that a line of the firmware may have: an output of these networks in hexadecimal, and what stands before it."""
    return LONGEST_LINE + 2 * max((output.bytes for network in networks for output in network.outputs), default=0)


def _runs_of(model: RunModel) -> int:
    return read_vectors(model.inputs).count


def outcome_of(
    model: RunModel,
    artifacts: NetworkArtifacts,
    inferences: Sequence[Inference],
    expected: Sequence[bytes],
    labels: Sequence[str],
) -> NetworkOutcome:
    """expected, labels: of each inference, or empty."""
    verdicts = judge(
        inferences,
        expected,
        labels=labels,
        classes=model.classes,
        outputs=artifacts.outputs,
        tolerance=model.tolerance,
    )
    counted = inferences[0].epoch_cycles if inferences else {}
    return NetworkOutcome(
        model.name,
        tuple(verdicts),
        _by_epoch(counted, artifacts.blocks),
        model.tolerance,
        model.against,
        model.not_compared,
        is_seeded=model.is_seeded,
    )


def _by_epoch(counted: Mapping[int, EpochCycles], blocks: Sequence[EpochBlock]) -> dict[int, EpochCycles]:
    """counted: by the place in the table of epoch blocks, from 1, because the numbers are only in debug builds of the firmware.
    ST's numbers begin elsewhere and jump."""
    cycles: dict[int, EpochCycles] = {}
    for place, block in enumerate(blocks, 1):
        if place in counted:
            before, more = cycles.get(block.first, EpochCycles(0, 0, 0)), counted[place]
            cycles[block.first] = EpochCycles(before.start + more.start, before.core + more.core, before.end + more.end)
    return cycles


def show_line(text: str) -> None:
    """Prints a line of the console as it comes, except the bytes of outputs: those are for the comparison."""
    if not text.startswith("n6 run "):
        say("Console", text)
    if text.startswith("n6 fsbl nor ") and text.endswith(" slow-pads"):
        say("Clock", "the NOR stays slow", "the fuse of its pads for high speed is not blown (docs/clocks.md)")
