"""n6_board.h: pins, clocks, NOR and flash slots of one board as C constants."""

from __future__ import annotations

from n6build.boards import Board
from n6build.paths import TEMPLATES
from n6build.templates import render

TEMPLATE = TEMPLATES / "n6_board.h.j2"


def board_header(board: Board) -> str:
    nor_pin_mask = sum(1 << line for line in board.nor.pins.lines)
    return render(TEMPLATE, {"board": board, "nor_pin_mask": nor_pin_mask})
