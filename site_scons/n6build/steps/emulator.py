"""The virtual board as an input: what its emulator was built from affects the result of a run."""

from __future__ import annotations

from pathlib import Path

from n6build.base import c_format
from n6build.base.paths import project_path
from n6build.base.templates import with_included
from n6build.flash.receipt import VIRTUAL
from n6build.hardware import soc_header
from n6build.hardware.board import Board
from n6build.steps.flash_board import Target
from n6build.virtual_board import machine
from n6build.virtual_board.run import NorBoot


def nor_of(target: Target) -> Path:
    """The file that is the virtual board's NOR."""
    return Path(target.virtual_board) / "nor.bin"


def boot_of(target: Target, board: Board) -> NorBoot:
    """What the virtual board of a target starts from."""
    return NorBoot(nor_of(target), board, strict_clocks=not target.foreign)


def emulator_files(target: Target, board: Board) -> tuple[str, ...]:
    """Sources of a step that runs the emulator; none for a real board."""
    return tuple(map(project_path, machine.machine_inputs(board))) if target.probe == VIRTUAL else ()


def emulator_templates(target: Target) -> tuple[str, ...]:
    """Templates of a step that runs the emulator; none for a real board."""
    if target.probe != VIRTUAL:
        return ()
    templates = (soc_header.TEMPLATE, c_format.TEMPLATE, machine.TEMPLATE, machine.NPU_TEMPLATE)
    return tuple(project_path(path) for template in templates for path in with_included(template))
