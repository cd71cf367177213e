"""The virtual board as an input: what its emulator was built from decides what a run gives."""

from __future__ import annotations

from n6build import soc_header
from n6build.boards import Board
from n6build.flash.virtual import VIRTUAL
from n6build.paths import project_path
from n6build.steps.board import board_files
from n6build.steps.flash_board import Target
from n6build.templates import with_included
from n6build.virtual_board.build import emulator_inputs


def emulator_files(board: Board, target: Target) -> tuple[str, ...]:
    """Of the board and, where it is the virtual one, of its emulator."""
    machine = emulator_inputs() if target.probe == VIRTUAL else ()
    return tuple(dict.fromkeys((*board_files(board), *map(project_path, machine))))


def emulator_templates(target: Target) -> tuple[str, ...]:
    return tuple(map(project_path, with_included(soc_header.TEMPLATE))) if target.probe == VIRTUAL else ()
