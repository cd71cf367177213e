"""Step that runs each epoch on reference tensors on the virtual board.

It compares the result of each epoch. The result is epochs.json, and the same as JUnit XML.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.base.files import to_json, write_atomically
from n6build.base.paths import project_path
from n6build.board.run.epoch_test_run import FedNetwork, run_fed
from n6build.board.run.epoch_test_table import fed_junit, print_fed, raise_if_outside
from n6build.board.run.session import show_line
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.describe.hardware.board import Board
from n6build.describe.model import EpochTolerance, Tolerance
from n6build.engine.step import Call, Step
from n6build.judge.compare.limits import INSTALL, missing_interpreter
from n6build.steps.board_files import board_as_chosen
from n6build.steps.compiled_network import NetworkSteps
from n6build.steps.emulator import emulator_files, emulator_templates, switched_on
from n6build.steps.flash_board import Target, board_step


@dataclass(frozen=True)
class _Network:
    """A network with the files of its reference model and of its inputs."""

    model: str
    name: str
    folder: str
    reference: str
    inputs: str
    tolerance: EpochTolerance | None


@dataclass(frozen=True)
class RunEpochsParameters:
    """Parameters of the step.

    Attributes:
        target: Board and programmer.
        networks: Networks in the order of the Appli.
        elves: Number of ELF files, which are the first sources.
    """

    target: Target
    networks: tuple[_Network, ...]
    elves: int


def run_epochs_step(
    output: str,
    receipts: Sequence[str],
    networks: Sequence[NetworkSteps],
    elves: Mapping[str, str],
    board: Board,
    target: Target,
) -> Step:
    """Return the step that compares single epochs.

    Args:
        output: Path of epochs.json.
        receipts: Receipts of the programmed board.
        networks: Networks in the order of the Appli.
        elves: Available ELF files by name, for source lines in findings.
        board: Board of the run.
        target: Board and programmer.

    Raises:
        N6Error: N6-OPTION-018 if a network has no reference model, or its interpreter is not installed.
    """
    described = tuple(_network(each) for each in networks)
    files = dict.fromkeys(
        (
            *(file for each in networks for file in each.outputs),
            *(file for each in described for file in (each.reference, each.inputs)),
        )
    )
    report = str(Path(output).with_suffix(".xml"))
    function = "n6build.steps.run_epochs:perform_run_epochs"
    sources = (*elves.values(), *receipts, *files, *emulator_files(target, board))
    parameters = RunEpochsParameters(target, described, len(elves))
    step = board_step("Run", "run", function, (output, report), sources, board, target, parameters)
    # Each request for a run runs again.
    return replace(step, templates=emulator_templates(target), always=True, kept=(report,))


def _network(steps: NetworkSteps) -> _Network:
    model = steps.model
    if model.reference is None:
        what = model.not_compared or f"the model behind network {model.name} is unknown"
        hint = "set reference.model in model.yaml to the .tflite or .onnx file"
        raise N6Error("N6-OPTION-018", what, where="option epochs", hint=hint)
    missing = missing_interpreter(model.reference)
    if missing:
        what = f"package {missing}, which runs {model.reference.name}, is not installed"
        raise N6Error("N6-OPTION-018", what, where="option epochs", hint=INSTALL)
    tolerance = (model.tolerance or Tolerance()).epoch
    return _Network(model.name, steps.name, steps.folder, project_path(model.reference), steps.inputs, tolerance)


def perform_run_epochs(call: Call) -> None:
    """Run the board, and write epochs.json and epochs.xml.

    Raises:
        N6Error: The errors of `run_fed`; N6-RUN-004 if the virtual board has findings; N6-RUN-011 if an
            epoch is outside its tolerance.
    """
    given = call.parameters_as(RunEpochsParameters)
    board = board_as_chosen(Path(given.target.file), given.target.board)
    networks = [
        FedNetwork(
            each.model,
            read_artifacts(Path(each.folder), each.name),
            Path(each.reference),
            Path(each.inputs),
            each.tolerance,
        )
        for each in given.networks
    ]
    with switched_on(given.target, board) as boot:
        outcomes, findings = run_fed(boot, networks, call.sources[: given.elves], show_line)
    result = {"board": board.name, "networks": [asdict(each) for each in outcomes], "findings": findings}
    write_atomically(call.outputs[0], to_json(result))
    write_atomically(call.outputs[1], fed_junit(board.name, outcomes, findings))
    for outcome in outcomes:
        if len(outcomes) > 1:
            say("Model", outcome.model)
        print_fed(outcome)
    raise_if_outside(outcomes, findings)
