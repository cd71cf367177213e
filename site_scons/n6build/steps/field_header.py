"""Step for n6_field_registers.h, the registers that a field report reads."""

from __future__ import annotations

from n6build.base.files import write_atomically
from n6build.base.paths import project_path
from n6build.base.templates import with_included
from n6build.describe.hardware import field_registers
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.field_registers import FIELD, FieldRegisters, field_header, read_field_registers
from n6build.engine.step import Call, Step, to_parameters


def field_header_step(folder: str, board: Board) -> Step:
    """Return the step that makes <folder>/n6_field_registers.h.

    Raises:
        N6Error: N6-SOC-010 if a register of the report is unknown.
    """
    return Step(
        verb="Header",
        stage="header",
        outputs=(f"{folder}/n6_field_registers.h",),
        parameters=to_parameters(read_field_registers(FIELD, board.soc)),
        templates=tuple(map(project_path, with_included(field_registers.TEMPLATE))),
        function="n6build.steps.field_header:make_field_header",
    )


def make_field_header(call: Call) -> None:
    """Write n6_field_registers.h."""
    write_atomically(call.outputs[0], field_header(call.parameters_as(FieldRegisters)))
