"""The linker script of FSBL or Appli."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from n6build.base.files import write_atomically
from n6build.base.paths import project_path
from n6build.base.templates import with_included
from n6build.hardware import linker_script
from n6build.hardware.board import Board
from n6build.hardware.soc import load_soc
from n6build.plan.step import Call, Step, to_parameters
from n6build.steps.board import soc_files

_SCRIPTS = {"fsbl": linker_script.fsbl_script, "appli": linker_script.appli_script}


@dataclass(frozen=True)
class Parameters:
    """program: which of the two."""

    program: Literal["fsbl", "appli"]


def program_script_step(output: str, board: Board, program: Literal["fsbl", "appli"]) -> Step:
    """output: the linker script."""
    return Step(
        verb="Script",
        stage="header",
        outputs=(output,),
        sources=soc_files(board),
        parameters=to_parameters(Parameters(program)),
        templates=tuple(map(project_path, with_included(linker_script.TEMPLATE))),
        function="n6build.steps.program_script:make",
    )


def make(call: Call) -> None:
    """Writes the linker script."""
    script = _SCRIPTS[call.parameters_as(Parameters).program]
    write_atomically(call.outputs[0], script(load_soc(call.sources[0])))
