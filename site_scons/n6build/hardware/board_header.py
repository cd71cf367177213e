"""n6_board.h: pins, clocks, NOR, PSRAM and flash slots of one board as C constants."""

from __future__ import annotations

from n6build.base.paths import TEMPLATES
from n6build.base.templates import render
from n6build.hardware.board import Board

TEMPLATE = TEMPLATES / "n6_board.h.j2"


def board_header(board: Board) -> str:
    """The text of n6_board.h."""
    values = {
        "board": board,
        "nor": board.nor_commands,
        "nor_pin_mask": board.nor.pins.mask,
        "psram": board.psram,
        "psram_commands": board.psram_commands,
    }
    if board.psram:
        divider = board.psram_divider(board.psram)
        values |= {"psram_divider": divider, "psram_clock_hz": board.clock.hclk_hz // divider}
    return render(TEMPLATE, values)
