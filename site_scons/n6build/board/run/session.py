"""Run of the flashed programs on the virtual board, with a judged result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from n6build.base.bounded import decode_json
from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.base.files import read_bytes
from n6build.base.size_text import counted
from n6build.board.run.compare import Verdict, check_appli, check_complete, cosine_text, judge
from n6build.board.run.console_log import EpochCycles, Inference, ends_run, read_console
from n6build.board.run.instructions import Meaning
from n6build.board.run.registers import Register, registers_of
from n6build.board.run.stops import say_stops
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.findings import show_findings
from n6build.board.virtual_board.npu_record import NpuEpoch
from n6build.board.virtual_board.run import LONGEST_LINE, NorBoot, run_nor
from n6build.compile.artifacts.description import EpochBlock, NetworkArtifacts
from n6build.describe.formats.console import FSBL_NOR, RUN_BEGIN
from n6build.describe.model import Tolerance
from n6build.judge.postprocess.found import Decoded
from n6build.judge.postprocess.layout import Layout
from n6build.place.memory_plan.vectors import read_vectors, rows


@dataclass(frozen=True)
class RunModel:
    """A model with its test vectors, for a run.

    Attributes:
        name: Name of the model.
        inputs: File with test vectors.
        expected: File with expected outputs, or None.
        labels: One for each vector, or empty.
        classes: Classes of the output.
        tolerance: None if outputs have to be equal.
        against: Source of the expected outputs, in words.
        not_compared: Reason for missing expected outputs.
        is_seeded: True for random inputs.
        nudged: Cosine of the model's own outputs to those for inputs that are one step off; None if it is
            unknown.
        float_ulps: Distance that float32 outputs may have, as in `judge`.
        is_measured: The labels are those of a dataset, whose accuracy is told.
        layout: Places of boxes and the like in the outputs, or None.
    """

    name: str
    inputs: Path
    expected: Path | None
    labels: tuple[str, ...]
    classes: tuple[str, ...]
    tolerance: Tolerance | None = None
    against: str = ""
    not_compared: str = ""
    is_seeded: bool = False
    nudged: float | None = None
    float_ulps: float = 0.0
    is_measured: bool = False
    layout: Layout | None = None


@dataclass(frozen=True)
class ExpectedMs:
    """Expected time of an inference, in ms.

    Attributes:
        low: Lower bound.
        high: Upper bound; None if only the lower one is known.
    """

    low: float
    high: float | None


@dataclass(frozen=True)
class NetworkOutcome:
    """Result of the inferences of one network.

    Attributes:
        model: Name of the model.
        verdicts: Verdicts on all inferences, in their order.
        epoch_cycles: Cycles of the first inference, by ST's number of the epoch; by the first number
            if a blob holds several.
        tolerance: As in `RunModel`.
        against: As in `RunModel`.
        not_compared: As in `RunModel`.
        npu_epochs: NPU epochs of the first inference, in their order; empty on a real board.
        expected: Expected time of an inference on the chip.
        is_seeded: As in `RunModel`.
        nudged: As in `RunModel`.
        is_measured: As in `RunModel`.
        decoded: Things that it found in each inference; empty without a decoder.
        mean_iou: Mean IoU of its areas and labels of a dataset, in percent; None if it was not measured.
        average_precision: Mean average precision of its boxes in percent, and that at an overlap of 0.5; empty if it was not
            measured.
    """

    model: str
    verdicts: tuple[Verdict, ...]
    epoch_cycles: dict[int, EpochCycles]
    tolerance: Tolerance | None = None
    against: str = ""
    not_compared: str = ""
    npu_epochs: tuple[NpuEpoch, ...] = ()
    expected: ExpectedMs | None = None
    is_seeded: bool = False
    nudged: float | None = None
    is_measured: bool = False
    decoded: tuple[Decoded, ...] = ()
    mean_iou: float | None = None
    average_precision: tuple[float, ...] = ()


@dataclass(frozen=True)
class Watched:
    """Result of a program that was only watched.

    Attributes:
        until: Goal of the run.
        why_not: Reason for a missed goal, empty if it was reached.
        instructions: Instructions until the end.
        at: Last place of the program: a source line, a symbol or an address.
        lines: Number of lines on its console.
    """

    until: str
    why_not: str
    instructions: int
    at: str
    lines: int

    @property
    def sentence(self) -> str:
        """Return a sentence on the end of the run."""
        how = f"after {self.instructions:,} instructions, at {self.at}"
        return f"without {self.until}: {self.why_not}; {how}" if self.why_not else f"reached {self.until} {how}"


@dataclass(frozen=True)
class Outcome:
    """Result of a run.

    Attributes:
        board: Name of the board.
        clock_hz: Clock of the CPU.
        counts: Unit of cycles; the virtual board counts instructions, as if each took one cycle.
        networks: Outcome of each network.
        findings: Findings of the virtual board, as text with source lines.
        models: Slot and revision of each relocatable model.
        meanings: Cycles of an instruction, by kind of code.
        registers: Registers that no model answers.
        watched: None if inferences were made.
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
        """Check that the run succeeded.

        Raises:
            N6Error: N6-RUN-004 for findings; N6-RUN-005 for outputs that differ too much; N6-RUN-008 if
                a watched program missed its goal; other errors are ignored for such a program.
        """
        if self.watched:
            if self.watched.why_not:
                what = f"the run ended before it reached {self.watched.until}: {self.watched.why_not}"
                raise N6Error("N6-RUN-008", what, where=self.watched.at, hint="run it with gdb=1 to debug the program")
            return
        if self.findings:
            raise N6Error(
                "N6-RUN-004", f"the virtual board has {counted(len(self.findings), 'finding')}", where=self.findings[0]
            )
        for network in self.networks:
            raise_if_different(network)


def raise_if_different(network: NetworkOutcome) -> None:
    """Check that all outputs are as expected.

    Raises:
        N6Error: N6-RUN-005 with the distance and the output.
    """
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
        what = f"{how_many} are further from the reference interpreter than expected of the chip: {another}{wanted}"
        hint = "set tolerance in model.yaml, if the network is known to be so sensitive"
    place = f", output {output.name}" if output else ""
    raise N6Error("N6-RUN-005", what, where=f"model {network.model}, vector {first.index}{place}", hint=hint)


@dataclass(frozen=True)
class Started:
    """Relocatable models in the firmware's console.

    Attributes:
        models: Slot and revision of each running model.
        refused: Reason for each refused model, by name and slot.
    """

    models: dict[str, tuple[int, int]]
    refused: dict[tuple[str, int], str]


def read_outcome(path: Path) -> Outcome:
    """Read a run.json file.

    Raises:
        N6Error: N6-RUN-007 if the file is not the result of a run.
    """
    try:
        outcome = decode_json(read_bytes(path), Outcome)
        if outcome.clock_hz < 1:
            raise ValueError(f"a clock of {outcome.clock_hz} Hz")
        return outcome
    except ValueError as error:
        raise N6Error(
            "N6-RUN-007", f"is not a result of a run: {error}", where=path.name, hint="repeat the run: scons run"
        ) from error


def start_virtual_board(boot: NorBoot, models: int, programs: Sequence[Path]) -> Started:
    """Run the virtual board until `models` models have started or the run ends.

    Raises:
        N6Error: N6-RUN-001 for a fault; N6-RUN-006 if no firmware for relocatable models starts.
    """
    started: set[str] = set()

    def enough(line: str) -> bool:
        started.update(read_console([line]).models)
        return ends_run(line) or len(started) >= models

    result = run_nor(find_emulator(boot.board.soc), boot, programs=programs, stop=enough, on_line=show_line)
    log = read_console(result.lines)
    if log.fault:
        raise N6Error("N6-RUN-001", f"the firmware faulted: {log.fault}")
    if not log.models and not log.refused:
        say_stops(boot.board, programs, result, ended_early=True)
        why = (
            str(result.findings[0])
            if result.findings
            else log.error[1]
            if log.error
            else "it prints no lines about models"
        )
        what = f"the board starts no application for relocatable models: {why}"
        raise N6Error("N6-RUN-006", what, hint="run scons ... loader=reloc flash, which also programs FSBL and Appli")
    return Started(log.models, log.refused)


def run_on_virtual_board(
    boot: NorBoot,
    networks: Sequence[tuple[RunModel, NetworkArtifacts]],
    programs: Sequence[Path],
    *,
    gdb: bool,
    on_line: Callable[[str], None],
) -> Outcome:
    """Run the networks on the virtual board.

    Args:
        boot: Images and options of the virtual board.
        networks: In the order of the application.
        programs: ELF files, for source lines.
        gdb: True to wait for a debugger.
        on_line: Called with each line of the console.

    Raises:
        N6Error: Errors of `check_complete` and `check_appli`, unless there are findings.
    """
    result = run_nor(
        find_emulator(boot.board.soc),
        boot,
        programs=programs,
        stop=ends_run,
        on_line=on_line,
        longest_line=longest_line([artifacts for _, artifacts in networks]),
        gdb=gdb,
    )
    log = read_console(result.lines)
    findings = show_findings(result.findings)
    counts = [read_vectors(model.inputs).count for model, _ in networks]
    say_stops(boot.board, programs, result, ended_early=log.done is None)
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
    """Return the most characters of a console line.

    The longest line is an output of these networks in hexadecimal with its prefix.
    """
    return LONGEST_LINE + 2 * max((output.bytes for network in networks for output in network.outputs), default=0)


def outcome_of(
    model: RunModel,
    artifacts: NetworkArtifacts,
    inferences: Sequence[Inference],
    expected: Sequence[bytes],
    labels: Sequence[str],
) -> NetworkOutcome:
    """Return the judged outcome of a network.

    Args:
        model: Model of the run.
        artifacts: Files of the compiled network.
        inferences: Inferences of this network.
        expected: Expected outputs of each inference, or empty.
        labels: Label of each inference, or empty.
    """
    from n6build.judge.postprocess.decode import decode_all  # noqa: PLC0415 - planning decodes nothing.

    verdicts = judge(
        inferences,
        expected,
        labels=labels,
        classes=model.classes,
        outputs=artifacts.outputs,
        tolerance=model.tolerance,
        float_ulps=model.float_ulps,
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
        nudged=model.nudged,
        is_measured=model.is_measured,
        decoded=decode_all(model.layout, [each.output() for each in inferences]) if model.layout else (),
    )


def _by_epoch(counted: Mapping[int, EpochCycles], blocks: Sequence[EpochBlock]) -> dict[int, EpochCycles]:
    """Return the cycles by ST's number of the epoch.

    The firmware counts by the place in the table of epoch blocks, from 1, since only its debug builds
    contain the numbers. ST's numbers begin elsewhere and have gaps.
    """
    cycles: dict[int, EpochCycles] = {}
    for place, block in enumerate(blocks, 1):
        if place in counted:
            before, more = cycles.get(block.first, EpochCycles(0, 0, 0)), counted[place]
            cycles[block.first] = EpochCycles(before.start + more.start, before.core + more.core, before.end + more.end)
    return cycles


def show_line(text: str) -> None:
    """Print a console line, except the bytes of outputs, which are compared."""
    if not text.startswith(RUN_BEGIN.head):
        say("Console", text)
    if "slow_pads" in (FSBL_NOR.read(text) or ()):
        say("Clock", "the NOR stays slow", "the fuse of its pads for high speed is not blown (docs/clocks.md)")
