"""Steps for the headers with board facts for the firmware, such as n6_board.h.

Each header has its own step.
"""

from __future__ import annotations

from n6build.base.files import write_atomically
from n6build.base.paths import project_path
from n6build.base.templates import with_included
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.board_header import HEADERS, BoardHeader
from n6build.engine.step import Call, Step, to_parameters


def board_header_steps(folder: str, board: Board) -> tuple[Step, ...]:
    """Return a step for each board header, such as <folder>/n6_board.h."""
    return tuple(_step(folder, header, board) for header in HEADERS)


def _step(folder: str, header: BoardHeader, board: Board) -> Step:
    return Step(
        verb="Header",
        stage="header",
        outputs=(f"{folder}/{header.name}",),
        parameters=to_parameters(header.of(board)),
        templates=tuple(map(project_path, with_included(header.template))),
        function="n6build.steps.board_headers:make_board_headers",
    )


def make_board_headers(call: Call) -> None:
    """Write the header that has the name of the output."""
    header = next(each for each in HEADERS if each.name == call.outputs[0].name)
    write_atomically(call.outputs[0], header.text(call.parameters_as(header.kind)))
