"""n6_board.h: what the firmware knows about the board."""

from __future__ import annotations

from n6build.base.files import write_atomically
from n6build.base.paths import project_path
from n6build.base.templates import with_included
from n6build.hardware import board_header
from n6build.hardware.board import Board
from n6build.hardware.board_header import BoardConstants, constants_of
from n6build.plan.step import Call, Step, to_parameters


def board_header_step(folder: str, board: Board) -> Step:
    """Makes <folder>/n6_board.h."""
    return Step(
        verb="Header",
        stage="header",
        outputs=(f"{folder}/n6_board.h",),
        parameters=to_parameters(constants_of(board)),
        templates=tuple(map(project_path, with_included(board_header.TEMPLATE))),
        function="n6build.steps.board_header:make",
    )


def make(call: Call) -> None:
    """Writes n6_board.h."""
    write_atomically(call.outputs[0], board_header.board_header(call.parameters_as(BoardConstants)))
