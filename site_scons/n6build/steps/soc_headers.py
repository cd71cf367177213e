"""Steps for the headers that describe the chip to the firmware, such as n6_soc.h."""

from __future__ import annotations

from n6build.base.files import write_atomically
from n6build.base.paths import project_path
from n6build.base.templates import with_included
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.soc_header import HEADERS, SocHeader
from n6build.engine.step import Call, Step, to_parameters


def soc_header_steps(folder: str, board: Board) -> tuple[Step, ...]:
    """Return a step for each chip header, such as <folder>/n6_soc.h."""
    return tuple(_step(folder, header, board) for header in HEADERS)


def _step(folder: str, header: SocHeader, board: Board) -> Step:
    return Step(
        verb="Header",
        stage="header",
        outputs=(f"{folder}/{header.name}",),
        parameters=to_parameters(header.of(board.soc)),
        templates=tuple(map(project_path, with_included(header.template))),
        function="n6build.steps.soc_headers:make_soc_headers",
    )


def make_soc_headers(call: Call) -> None:
    """Write the header that has the name of the output."""
    header = next(each for each in HEADERS if each.name == call.outputs[0].name)
    write_atomically(call.outputs[0], header.text(call.parameters_as(header.kind)))
