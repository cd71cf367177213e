"""Settings of a board's boot selectors, in words."""

from __future__ import annotations

from n6build.describe.hardware.board import Board


def programming(board: Board) -> str:
    """Return a hint for a board that a probe cannot program."""
    return (
        f"boot selectors for programming: {board.programmer.dev_boot}; after changing them, switch the power off and on "
        "(run mode=no-flash uses what is there)"
    )


def running(board: Board) -> str:
    """Return a hint for a board that does not start the programs in flash."""
    return (
        f"boot selectors for running: {board.programmer.flash_boot}; after changing them, switch the power off and on"
    )
