"""n6_board.h: pins, clocks, NOR and flash slots of one board as C constants.

python -m n6build.board_header nucleo-n657 > n6_board.h
"""

from __future__ import annotations

import sys

from n6build.boards import Board, load_board
from n6build.paths import TEMPLATES
from n6build.templates import render

TEMPLATE = TEMPLATES / "n6_board.h.j2"


def board_header(board: Board) -> str:
    nor_pin_mask = sum(1 << line for line in board.nor.pins.lines)
    return render(TEMPLATE, {"board": board, "nor_pin_mask": nor_pin_mask})


if __name__ == "__main__":
    sys.stdout.write(board_header(load_board(sys.argv[1])))
