"""Step that reports the expected times of networks as a table, text and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from n6build.base.console import say, show
from n6build.base.files import to_json, write_atomically
from n6build.base.paths import project_path
from n6build.board.run.counted import counted_in
from n6build.board.run.session import Outcome, read_outcome
from n6build.compile.artifacts.description import NetworkArtifacts
from n6build.compile.artifacts.read_artifacts import read_artifacts
from n6build.describe.hardware.board import Board
from n6build.engine.step import Call, Step, to_parameters
from n6build.judge.timing.conditions import conditions_of
from n6build.judge.timing.expected import NetworkTime, expected_time
from n6build.judge.timing.model import MODEL, read_model
from n6build.judge.timing.of_network import work_of
from n6build.judge.timing.timing_table import board_lines, change_lines, time_lines, whole_text
from n6build.judge.timing.what_if import Change, changes
from n6build.steps.board_files import BoardChoice, board_as_chosen, board_files, choice_of
from n6build.steps.compiled_network import NetworkSteps


def expected_times(
    networks: Sequence[NetworkArtifacts], board: Board, outcome: Outcome | None
) -> tuple[NetworkTime, ...]:
    """Return the expected time of each network.

    The step that calls this has MODEL among its sources.

    Args:
        networks: Artifacts of the networks.
        board: Board as described.
        outcome: Outcome of a run of these networks, with counted instructions; None if nothing ran.
    """
    model, at = read_model(Path(project_path(MODEL))), conditions_of(board)
    return tuple(
        expected_time(work_of(each, board.soc), model, at, counted_in(outcome, number))
        for number, each in enumerate(networks)
    )


@dataclass(frozen=True)
class _Network:
    model: str
    name: str
    folder: str


@dataclass(frozen=True)
class _Board:
    """A board by its description file, board.yaml, and its choices."""

    file: str
    choice: BoardChoice


@dataclass(frozen=True)
class NetworkTimesParameters:
    """Parameters of the step.

    Attributes:
        board: Board that the networks are compiled for.
        boards: All requested boards.
        networks: Networks of the application.
        clock: Value of option clock.
        flash: Value of option flash.
        run: Path of run.json; empty if nothing ran.
    """

    board: _Board
    boards: tuple[_Board, ...]
    networks: tuple[_Network, ...]
    clock: str
    flash: str
    run: str


@dataclass(frozen=True)
class _OnBoard:
    """An entry of the JSON file."""

    board: str
    model: str
    time: NetworkTime
    changes: tuple[Change, ...]


def network_times_step(
    folder: str,
    board: Board,
    boards: Sequence[Board],
    networks: Sequence[NetworkSteps],
    clock: str,
    flash: str,
    run: str,
) -> Step:
    """Return the step that reports the expected times.

    Args:
        folder: Folder of the application.
        board: Board that the networks are compiled for.
        boards: All requested boards.
        networks: Networks of the application.
        clock: Value of option clock.
        flash: Value of option flash.
        run: Path of run.json; empty if nothing runs.

    Raises:
        N6Error: N6-BOARD-003 if the clock profile is unknown; N6-TIME-003 if the clock of the NOR is
            invalid. Both are raised before anything is built.
    """
    for each in boards:
        conditions_of(each, clock, flash)
    described = tuple(_Network(each.model.name, each.name, each.folder) for each in networks)
    files = dict.fromkeys(
        (
            *(file for each in networks for file in each.outputs),
            *(file for each in (board, *boards) for file in board_files(each)),
            project_path(MODEL),
            *([run] if run else []),
        )
    )
    parameters = NetworkTimesParameters(_chosen(board), tuple(map(_chosen, boards)), described, clock, flash, run)
    return Step(
        verb="Time",
        stage="report",
        outputs=(f"{folder}/time.txt", f"{folder}/time.json"),
        sources=tuple(files),
        parameters=to_parameters(parameters),
        function="n6build.steps.network_times:make_network_times",
        # Each request for this target prints the times again.
        always=True,
        shared=False,
    )


def _chosen(board: Board) -> _Board:
    return _Board(board_files(board)[0], choice_of(board))


def make_network_times(call: Call) -> None:
    """Print the expected times, and write time.txt and time.json."""
    given = call.parameters_as(NetworkTimesParameters)
    model = read_model(Path(project_path(MODEL)))
    outcome = read_outcome(Path(given.run)) if given.run else None
    boards = [board_as_chosen(Path(each.file), each.choice) for each in given.boards]
    found: list[_OnBoard] = []
    lines: list[str] = []
    for number, network in enumerate(given.networks):
        artifacts = read_artifacts(Path(network.folder), network.name)
        times = []
        for board in boards:
            work = work_of(artifacts, board.soc)
            at = conditions_of(board, given.clock, given.flash)
            counted = counted_in(outcome, number)
            time = expected_time(work, model, at, counted)
            tried = changes(work, model, board, at, counted)
            found.append(_OnBoard(board.name, network.model, time, tried))
            times.append((board.title, time))
        lines += [*([network.model] if len(given.networks) > 1 else []), *time_lines(times[0][1])]
        lines += change_lines(found[-len(boards)].changes)
        if len(times) > 1:
            lines += ["", *board_lines(times)]
    text = "\n".join(lines) + "\n"
    write_atomically(call.outputs[0], text)
    write_atomically(call.outputs[1], to_json([asdict(each) for each in found]))
    show(text)
    for each in found:
        say("Expected", f"{each.model} on {each.board}: {whole_text(each.time)}", str(call.outputs[0]))
