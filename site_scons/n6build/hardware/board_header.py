"""n6_board.h: pins, clocks, NOR and flash slots of one board as C constants."""

from __future__ import annotations

from n6build.base.paths import TEMPLATES
from n6build.base.templates import render
from n6build.hardware.boards import Board

TEMPLATE = TEMPLATES / "n6_board.h.j2"


def board_header(board: Board) -> str:
    nor_pin_mask = sum(1 << line for line in board.nor.pins.lines)
    return render(TEMPLATE, {"board": board, "nor_pin_mask": nor_pin_mask})
