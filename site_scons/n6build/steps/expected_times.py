"""Expected times of networks on a described board, shown after a run or build."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from n6build.base.paths import project_path
from n6build.board.run.counted import counted_in
from n6build.board.run.session import Outcome
from n6build.compile.artifacts.description import NetworkArtifacts
from n6build.describe.hardware.board import Board
from n6build.judge.timing.conditions import conditions_of
from n6build.judge.timing.expected import NetworkTime, expected_time
from n6build.judge.timing.model import MODEL, read_model
from n6build.judge.timing.of_network import work_of


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
