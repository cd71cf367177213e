"""Step for the linker script of FSBL or Appli."""

from __future__ import annotations

from typing import Literal

from n6build.base.files import write_atomically
from n6build.base.paths import project_path
from n6build.base.templates import with_included
from n6build.describe.hardware import linker_script
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.linker_script import ProgramRam, appli_ram, fsbl_ram, program_script
from n6build.engine.step import Call, Step, to_parameters

_RAM = {"fsbl": fsbl_ram, "appli": appli_ram}


def program_script_step(output: str, board: Board, program: Literal["fsbl", "appli"]) -> Step:
    """Return the step that writes the linker script of FSBL or Appli."""
    return Step(
        verb="Script",
        stage="header",
        outputs=(output,),
        parameters=to_parameters(_RAM[program](board.soc)),
        templates=tuple(map(project_path, with_included(linker_script.TEMPLATE))),
        function="n6build.steps.program_script:make_program_script",
    )


def make_program_script(call: Call) -> None:
    """Write the linker script."""
    write_atomically(call.outputs[0], program_script(call.parameters_as(ProgramRam)))
