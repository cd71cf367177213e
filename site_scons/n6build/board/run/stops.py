"""Explanation of a run on the virtual board, printed at its end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from n6build.base.console import say
from n6build.board.virtual_board.run import RunResult
from n6build.board.virtual_board.stop_text import Explainer, Explanation
from n6build.describe.hardware.board import Board


def say_stops(board: Board, programs: Sequence[Path], result: RunResult, *, ended_early: bool) -> tuple[str, ...]:
    """Print and return the reasons why a program stopped.

    They are assertions, faults or waits.

    Args:
        board: Board of the run.
        programs: ELF files.
        result: Result of the run.
        ended_early: False if the run has reached its goal.
    """
    lines = stops_of(board, programs, result, ended_early=ended_early)
    for each in lines:
        say(each.verb, each.text)
    return tuple(each.text for each in lines)


def stops_of(
    board: Board, programs: Sequence[Path], result: RunResult, *, ended_early: bool
) -> tuple[Explanation, ...]:
    """Return the reasons that `say_stops` prints."""
    unmodelled = {each.address for each in result.unmodelled}
    return Explainer(board.soc, tuple(programs)).explain(result.stops, unmodelled, ended_early=ended_early)
