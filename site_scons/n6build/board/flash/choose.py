"""Choice of the board to program."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from n6build.board.flash.receipt import VIRTUAL
from n6build.board.flash.virtual import VirtualProgrammer
from n6build.describe.hardware.board import Board

if TYPE_CHECKING:  # A null build on the virtual board need not import programmers of real boards.
    from n6build.board.flash.probe_programmer import ProbeProgrammer


def choose_programmer(probe: str, board: Board, virtual_folder: Path) -> VirtualProgrammer | ProbeProgrammer:
    """Return the programmer of the chosen board.

    Args:
        probe: 'virtual', or a value for `programmer_of_probe`.
        board: The board.
        virtual_folder: Folder of the virtual board.

    Raises:
        N6Error: Errors of `programmer_of_probe`.
    """
    if probe == VIRTUAL:
        return VirtualProgrammer(virtual_folder, board.nor.base, board.nor.size)
    from n6build.board.flash.probes import programmer_of_probe  # noqa: PLC0415

    return programmer_of_probe(probe, board)


def chosen_programmer(name: str, board: Board, virtual_folder: Path) -> VirtualProgrammer | ProbeProgrammer:
    """Return the programmer that was chosen while the build was read.

    Args:
        name: Name from `name_of_programmer`.
        board: The board.
        virtual_folder: Folder of the virtual board.

    Raises:
        N6Error: N6-FLASH-018 if the programmer is no longer installed.
    """
    if name == VIRTUAL:
        return VirtualProgrammer(virtual_folder, board.nor.base, board.nor.size)
    from n6build.board.flash.probes import programmer_named  # noqa: PLC0415

    return programmer_named(name, board)


def name_of_programmer(programmer: VirtualProgrammer | ProbeProgrammer) -> str:
    """Return a programmer's name for steps.

    It is 'virtual', or programmer and serial number.
    """
    if isinstance(programmer, VirtualProgrammer):
        return VIRTUAL
    from n6build.board.flash.probes import name_of  # noqa: PLC0415

    return name_of(programmer)
