"""How the boot selectors of a board have to stand, in words."""

from __future__ import annotations

from n6build.hardware.board import Board


def programming(board: Board) -> str:
    return (
        f"boot selectors for programming: {board.programmer.dev_boot}; after a change switch the power off and on "
        "(run mode=no-flash takes what is there)"
    )


def running(board: Board) -> str:
    return f"boot selectors for running: {board.programmer.flash_boot}; after a change switch the power off and on"
