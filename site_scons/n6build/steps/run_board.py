"""Step that boots a flashed board, runs inferences and compares the outputs.

The result is run.json, and the same as JUnit XML.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from pathlib import Path

from n6build.base.bounded import decode_json
from n6build.base.errors import N6Error
from n6build.base.files import read_bytes, to_json, write_atomically
from n6build.base.paths import project_path
from n6build.base.same_fields import with_fields_of
from n6build.board.flash.model_update import remember_running
from n6build.board.flash.program import board_lock
from n6build.board.flash.programmer import Programmer
from n6build.board.flash.receipt import VIRTUAL
from n6build.board.flash.survey import doubted_if_it_fails
from n6build.board.run.compare import OF_APPROXIMATIONS, OF_FLOAT32, of_noise
from n6build.board.run.decoded import decoded_inputs
from n6build.board.run.instructions import INSTRUCTIONS, read_meanings
from n6build.board.run.linked_session import LinkedNetwork, console_of, run_on_linked_virtual_board, run_on_real_board
from n6build.board.run.npu_epochs import with_npu_epochs
from n6build.board.run.registers import check_registers, say_registers
from n6build.board.run.session import ExpectedMs, NetworkOutcome, Outcome, RunModel, run_on_virtual_board, show_line
from n6build.board.run.table import print_results, run_junit
from n6build.compile.artifacts.description import NetworkArtifacts
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.describe.choices import Trace
from n6build.describe.hardware.board import Board
from n6build.describe.model import Tolerance
from n6build.describe.postprocess import Postprocess
from n6build.describe.preprocess import Preprocess
from n6build.engine.step import Call, Step, to_parameters
from n6build.judge.npu.trace import TracedNetwork
from n6build.judge.npu.uses import npu_use, require_modelled
from n6build.judge.postprocess.layout import ID as LAYOUT
from n6build.judge.postprocess.layout import layout_of
from n6build.judge.timing.expected import NetworkTime
from n6build.judge.timing.model import MODEL
from n6build.place.memory_plan.vectors import read_vectors
from n6build.steps.board_files import board_files, boards_folders
from n6build.steps.compiled_network import NetworkSteps
from n6build.steps.decoded_files import decoded_outputs, with_average_precision, with_mean_iou, write_decoded
from n6build.steps.emulator import emulator_files, emulator_templates, emulator_tool, nor_of, switched_on
from n6build.steps.flash_board import Target
from n6build.steps.network_times import expected_times
from n6build.steps.reference_outputs import Expected
from n6build.steps.run_files import Sound, npu_files, profiled, run_outputs, with_sound
from n6build.steps.start_board import begin, no_elf


@dataclass(frozen=True)
class NetworkOnBoard:
    """A network that runs on a board.

    Attributes:
        model: Name of the model.
        name: Name of the network's files.
        folder: Folder of the network's files.
        inputs: File of the test vectors.
        expected: File of the expected outputs for these vectors or the session's inputs, or None.
        labels: Labels of the test vectors.
        classes: Labels of the outputs.
        exact: The backend copies the reference interpreter bit for bit.
        tolerance: Tolerance in model.yaml, or None.
        against: See `Expected`.
        not_compared: See `Expected`.
        why_not: See `Expected`.
        nudged: See `Expected`.
        is_seeded: Inputs are random.
        approximates: See `Expected`.
        postprocess: Decoder of its outputs, or None.
        preprocess: Pre-processing of its pictures.
    """

    model: str
    name: str
    folder: str
    inputs: str
    expected: str | None
    labels: tuple[str, ...]
    classes: tuple[str, ...]
    exact: bool
    tolerance: Tolerance | None
    against: str
    not_compared: str
    why_not: str
    nudged: str
    is_seeded: bool
    approximates: bool
    postprocess: Postprocess | None
    preprocess: Preprocess


@dataclass(frozen=True)
class Session:
    """Options of a run.

    Attributes:
        inputs: File of inputs instead of the model's; empty for the model's.
        expected: File of expected outputs instead of the model's; empty for the model's.
        console: Serial port; empty for the port of the probe.
        sound: Files for what the virtual board hears and plays.
        runs: Number of inferences over the link; 0 for each input once.
        gdb: Wait for GDB.
        trace: Record of the run that option trace asks for.
        silent: No output, because several sessions run in parallel.
        labels: File with the right class of each row of the inputs, or empty.
        pictures: Pictures of the rows of the inputs, or empty.
        areas: Pictures with the right class of each pixel of these pictures, or empty.
        boxes: File with the right boxes of these pictures, or empty.
    """

    inputs: str = ""
    expected: str = ""
    console: str = ""
    sound: Sound = field(default_factory=Sound)
    runs: int = 0
    gdb: bool = False
    trace: Trace = "none"
    silent: bool = False
    labels: str = ""
    pictures: tuple[str, ...] = ()
    areas: tuple[str, ...] = ()
    boxes: str = ""

    @property
    def files(self) -> tuple[str, ...]:
        """Return the files that the run reads besides those of the networks."""
        files = self.inputs, self.labels, self.sound.heard, *self.pictures, *self.areas, self.boxes
        return tuple(project_path(file) for file in files if file)

    @property
    def is_repeatable(self) -> bool:
        """Return True if only files decide the result, and nothing is left running."""
        return not self.gdb and not self.console and not self.sound.played

    @property
    def over_the_link(self) -> bool:
        """Return True if inputs are sent over the console, not read from flash."""
        return bool(self.inputs or self.expected or self.runs)


@dataclass(frozen=True)
class RunBoardParameters:
    """Parameters of the step.

    Attributes:
        target: Board and programmer.
        networks: Networks in the order of the Appli.
        session: Options of the run.
        elves: Number of ELF files, which are the first sources.
    """

    target: Target
    networks: tuple[NetworkOnBoard, ...]
    session: Session
    elves: int


def run_board_step(
    output: str,
    receipts: Sequence[str],
    networks: Sequence[tuple[NetworkSteps, Expected]],
    elves: Mapping[str, str],
    board: Board,
    target: Target,
    session: Session,
) -> Step:
    """Return the step that runs inferences on a board.

    Args:
        output: Path of run.json.
        receipts: Receipts of the programmed board.
        networks: Each network with its expected outputs.
        elves: Available ELF files by name, for source lines in findings.
        board: Board of the run.
        target: Board and programmer.
        session: Options of the run.

    Raises:
        N6Error: N6-OPTION-014 if start=ram has no ELF file of the FSBL.
    """
    if target.start == "ram" and "FSBL" not in elves:
        raise no_elf()
    described = tuple(network_on_board(each, expected) for each, expected in networks)
    if session.inputs:
        described = tuple(replace(each, is_seeded=False) for each in described)
    shared = session.silent and session.is_repeatable and target.probe == VIRTUAL
    vectors = [file for each in described for file in (each.inputs, each.expected, each.why_not, each.nudged) if file]
    files = [*(file for each, _ in networks for file in each.for_runs), *vectors, *session.files]
    meanings = (project_path(INSTRUCTIONS),) if target.probe == VIRTUAL else ()
    described_by = (*emulator_files(target, board), *board_files(board)) if target.probe == VIRTUAL else ()
    decoders = [each.postprocess for each in described]
    results = (*run_outputs(output, session.trace), *decoded_outputs(output, decoders, session.pictures))
    return Step(
        verb="Run",
        stage="run",
        outputs=(*results, *session.sound.outputs),
        sources=tuple(
            dict.fromkeys((*elves.values(), *receipts, *files, *described_by, project_path(MODEL), *meanings))
        ),
        parameters=to_parameters(RunBoardParameters(target, described, session, len(elves))),
        templates=emulator_templates(target),
        # A step that always runs needs no digest of the emulator.
        tools=(emulator_tool(board),) if session.silent and target.probe == VIRTUAL else (),
        state=(target.virtual_board, *boards_folders(board)),
        function="n6build.steps.run_board:perform_run_board",
        consulted=(str(nor_of(target)),) if shared else (),
        # Each request for a run runs again. A matrix runs only changed inputs, and may use the same run of another build.
        always=not session.silent,
        shared=shared,
        kept=results[1:],
    )


def network_on_board(steps: NetworkSteps, expected: Expected) -> NetworkOnBoard:
    """Return the network as parameters of a step."""
    model = steps.model
    return with_fields_of(
        NetworkOnBoard,
        expected,
        model,
        model=model.name,
        name=steps.name,
        folder=steps.folder,
        inputs=steps.inputs,
        expected=expected.file or None,
        exact=steps.backend.exact,
        is_seeded=steps.seeded is not None and not steps.is_sampled,
        postprocess=None if LAYOUT in model.waived else model.postprocess,
    )


def perform_run_board(call: Call) -> None:
    """Run the board, and write run.json and run.xml.

    Raises:
        N6Error: N6-VEC-00x, N6-RUN-00x, N6-LINK-00x or N6-AUDIO-001 if the run or its comparison fails.
    """
    given = call.parameters_as(RunBoardParameters)
    session = given.session
    board, programmer = given.target.opened()
    elves = call.sources[: given.elves]
    on_line: Callable[[str], None] = (lambda _: None) if session.silent else show_line
    networks = [as_run(each) for each in given.networks]
    with doubted_if_it_fails(programmer.record, board.name):
        if given.target.probe != VIRTUAL:
            linked = _linked(networks, session)
            outcome = _run_on_probe(given, board, programmer, linked, call.sources[0], on_line)
        else:
            outcome = _run_virtually(given, board, networks, elves, call.outputs, on_line)
        if outcome.counts == "instructions":
            outcome = replace(outcome, meanings=read_meanings(call.sources[-1]))
        described = [artifacts for _, artifacts in networks]
        times = expected_times(described, board, outcome)
        how = [each.preprocess for each in given.networks]
        judged = with_mean_iou(_with_expected(outcome.networks, times), networks, how, session.pictures, session.areas)
        inputs = [decoded_inputs(one, session.pictures, own) for one, own in zip(judged, how, strict=True)]
        outcome = replace(outcome, networks=with_average_precision(judged, inputs, session.boxes))
        if outcome.models and not session.silent:
            # Skip this for a matrix: it recorded the models when it programmed its boards, and other machines may do its runs.
            remember_running(programmer.record, outcome.models)
        write_atomically(call.outputs[0], to_json(asdict(outcome)))
        write_atomically(call.outputs[1], run_junit(outcome))
        if not session.silent:
            print_results(outcome, described, times)
            say_registers(outcome.registers, str(call.outputs[0]))
        write_decoded(list(chain(*inputs)), call.outputs, silent=session.silent)
        outcome.raise_if_wrong()
    check_registers(board, outcome.registers)


def _with_expected(networks: Sequence[NetworkOutcome], times: Sequence[NetworkTime]) -> tuple[NetworkOutcome, ...]:
    pairs = zip(networks, times, strict=True)
    return tuple(replace(network, expected=ExpectedMs(time.low, time.high)) for network, time in pairs)


def _run_virtually(
    given: RunBoardParameters,
    board: Board,
    networks: list[tuple[RunModel, NetworkArtifacts]],
    elves: Sequence[Path],
    outputs: Sequence[Path],
    on_line: Callable[[str], None],
) -> Outcome:
    """Run on the virtual board, with an NPU record only if a network uses the NPU."""
    session, folder = given.session, Path(given.target.virtual_board)
    for_npu = [(model.name, artifacts) for model, artifacts in networks if artifacts.uses_npu]
    for name, artifacts in for_npu:
        require_modelled(npu_use(artifacts.source, board.soc.npu), name)
    traced = [TracedNetwork(model.name, artifacts) for model, artifacts in networks]
    with (
        switched_on(given.target, board) as powered,
        npu_files(folder, board, traced, outputs, record=bool(for_npu)) as files,
        profiled(replace(powered, npu=files), outputs, elves) as profiled_boot,
        with_sound(profiled_boot, session.sound) as boot,
    ):
        if session.over_the_link:
            outcome = run_on_linked_virtual_board(boot, _linked(networks, session), elves, on_line)
        else:
            outcome = run_on_virtual_board(boot, networks, elves, gdb=session.gdb, on_line=on_line)
        return with_npu_epochs(outcome, files.record) if files.record else outcome


def as_run(network: NetworkOnBoard) -> tuple[RunModel, NetworkArtifacts]:
    """Return the network as it is run and compared.

    The NPU rounds differently from the reference interpreter, and so do layers in float32. Any other network on the CPU
    alone must be equal, unless model.yaml has a tolerance for the network of another compiler.
    """
    artifacts = read_artifacts(Path(network.folder), network.name)
    nudged = _nudged(network)
    usual = of_noise(nudged) if network.is_seeded else Tolerance()
    is_exact = network.exact and not artifacts.in_float32
    noisy = artifacts.uses_npu or artifacts.in_float32
    tolerance = None if is_exact else network.tolerance or (usual if noisy else None)
    why_not = read_bytes(Path(network.why_not)).decode() if network.why_not else ""
    model = RunModel(
        network.model,
        Path(network.inputs),
        Path(network.expected) if network.expected and not why_not else None,
        network.labels,
        network.classes,
        tolerance,
        network.against,
        network.not_compared or why_not,
        network.is_seeded,
        nudged,
        _float_ulps(network, artifacts),
        layout=layout_of(network.postprocess, artifacts.inputs, artifacts.outputs, network.classes)
        if network.postprocess
        else None,
    )
    return model, artifacts


def _float_ulps(network: NetworkOnBoard, artifacts: NetworkArtifacts) -> float:
    """Return the allowed distance of float32 outputs, in ulps of the largest value."""
    if artifacts.in_float32:
        return OF_FLOAT32
    return OF_APPROXIMATIONS if network.approximates else 0.0


def _nudged(network: NetworkOnBoard) -> float | None:
    text = read_bytes(Path(network.nudged)).decode() if network.nudged else ""
    return float(text) if text else None


def _run_on_probe(
    given: RunBoardParameters,
    board: Board,
    programmer: Programmer,
    networks: list[LinkedNetwork],
    fsbl: Path,
    on_line: Callable[[str], None],
) -> Outcome:
    port = given.session.console or console_of(programmer.name)
    with board_lock(programmer):
        return run_on_real_board(board, networks, port, lambda: begin(programmer, given.target.start, fsbl), on_line)


def _linked(networks: list[tuple[RunModel, NetworkArtifacts]], session: Session) -> list[LinkedNetwork]:
    """Return the networks for a run over the console.

    A real board always runs like this, and the virtual board if `session.over_the_link`.
    """
    return [linked_network(model, artifacts, session) for model, artifacts in networks]


def linked_network(model: RunModel, artifacts: NetworkArtifacts, session: Session) -> LinkedNetwork:
    """Return the network with its vectors for a run over the console.

    Raises:
        N6Error: N6-VEC-004 if inputs and expected outputs have different numbers of rows.
    """
    inputs = read_vectors(Path(session.inputs) if session.inputs else model.inputs)
    expected = read_vectors(model.expected) if model.expected else None
    if expected and expected.count != inputs.count:
        what = f"has {expected.count} rows, but the inputs have {inputs.count}"
        raise N6Error("N6-VEC-004", what, where=expected.name, hint="write a row of outputs for each row of inputs")
    of_inputs = decode_json(read_bytes(Path(session.labels)), tuple[str, ...]) if session.labels else ()
    labels = of_inputs if session.inputs else model.labels
    model = replace(model, is_measured=bool(of_inputs))
    return LinkedNetwork(model, artifacts, inputs, expected, labels, session.runs or inputs.count)
