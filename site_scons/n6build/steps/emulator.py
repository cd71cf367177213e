"""The virtual board as an input: what its emulator was built from decides what a run gives."""

from __future__ import annotations

from n6build.base.paths import project_path
from n6build.base.templates import with_included
from n6build.flash.receipt import VIRTUAL
from n6build.hardware import soc_header
from n6build.steps.flash_board import Target
from n6build.virtual_board.build import emulator_inputs


def emulator_files(target: Target) -> tuple[str, ...]:
    """None for a board on a cable."""
    return tuple(map(project_path, emulator_inputs())) if target.probe == VIRTUAL else ()


def emulator_templates(target: Target) -> tuple[str, ...]:
    return tuple(map(project_path, with_included(soc_header.TEMPLATE))) if target.probe == VIRTUAL else ()
