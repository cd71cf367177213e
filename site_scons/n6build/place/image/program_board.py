"""Facts of a board's description that decide the place of a third-party program."""

from __future__ import annotations

from dataclasses import dataclass

from n6build.describe.hardware.board import Board
from n6build.describe.hardware.program_places import ProgramPlaces, places_of
from n6build.describe.hardware.slots import BoardFlash, flash_of
from n6build.describe.hardware.soc import SYSTEM_EXCEPTIONS


@dataclass(frozen=True)
class ProgramBoard:
    """Board facts for third-party programs.

    Attributes:
        flash: Flash slots of the board.
        programs: Places of FSBL and Appli.
        external_ram: Address of the external RAM's window; None without external RAM.
        vectors: Number of vectors in the chip's vector table.
    """

    flash: BoardFlash
    programs: ProgramPlaces
    external_ram: int | None
    vectors: int


def program_board(board: Board) -> ProgramBoard:
    """Return the board facts for third-party programs."""
    soc, ram = board.soc, board.external_ram
    window = soc.memories[ram.memory].base if ram else None
    return ProgramBoard(flash_of(board), places_of(soc), window, SYSTEM_EXCEPTIONS + soc.interrupt_count)
