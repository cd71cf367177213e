"""n6_soc.h and its parts: what the firmware knows about the chip, a step for each header."""

from __future__ import annotations

from n6build.base.files import write_atomically
from n6build.base.paths import project_path
from n6build.base.templates import with_included
from n6build.hardware.board import Board
from n6build.hardware.soc_header import HEADERS, SocHeader
from n6build.plan.step import Call, Step, to_parameters


def soc_header_steps(folder: str, board: Board) -> tuple[Step, ...]:
    """Make <folder>/n6_soc.h and the others."""
    return tuple(_step(folder, header, board) for header in HEADERS)


def _step(folder: str, header: SocHeader, board: Board) -> Step:
    return Step(
        verb="Header",
        stage="header",
        outputs=(f"{folder}/{header.name}",),
        parameters=to_parameters(header.of(board.soc)),
        templates=tuple(map(project_path, with_included(header.template))),
        function="n6build.steps.soc_header:make",
    )


def make(call: Call) -> None:
    """Writes the header that the output is called."""
    header = next(each for each in HEADERS if each.name == call.outputs[0].name)
    write_atomically(call.outputs[0], header.text(call.parameters_as(header.kind)))
