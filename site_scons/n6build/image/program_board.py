"""What of a board's description decides where somebody's program goes."""

from __future__ import annotations

from dataclasses import dataclass

from n6build.hardware.board import Board
from n6build.hardware.program_places import ProgramPlaces, places_of
from n6build.hardware.slots import BoardFlash, flash_of
from n6build.hardware.soc import SYSTEM_EXCEPTIONS


@dataclass(frozen=True)
class ProgramBoard:
    """external_ram: address of its window, None if there is none. vectors: of the chip's vector table."""

    flash: BoardFlash
    programs: ProgramPlaces
    external_ram: int | None
    vectors: int


def program_board(board: Board) -> ProgramBoard:
    """A board as steps take it that read somebody's program."""
    soc, ram = board.soc, board.external_ram
    window = soc.memories[ram.memory].base if ram else None
    return ProgramBoard(flash_of(board), places_of(soc), window, SYSTEM_EXCEPTIONS + soc.interrupt_count)
