"""n6_soc.h: what the firmware knows about the chip."""

from __future__ import annotations

from n6build.base.files import write_atomically
from n6build.base.paths import project_path
from n6build.base.templates import with_included
from n6build.hardware import soc_header
from n6build.hardware.board import Board
from n6build.hardware.soc_header import SocConstants, constants_of
from n6build.plan.step import Call, Step, to_parameters


def soc_header_step(folder: str, board: Board) -> Step:
    """Makes <folder>/n6_soc.h."""
    return Step(
        verb="Header",
        stage="header",
        outputs=(f"{folder}/n6_soc.h",),
        parameters=to_parameters(constants_of(board.soc)),
        templates=tuple(map(project_path, with_included(soc_header.TEMPLATE))),
        function="n6build.steps.soc_header:make",
    )


def make(call: Call) -> None:
    """Writes n6_soc.h."""
    write_atomically(call.outputs[0], soc_header.soc_header(call.parameters_as(SocConstants)))
