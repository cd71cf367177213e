"""Settings of a board's boot selectors, in words."""

from __future__ import annotations

from n6build.describe.hardware.board import Board


def programming(board: Board) -> str:
    """Return a hint for a board that a probe cannot program."""
    return (
        f"set the boot selectors for programming: {board.programmer.dev_boot}; then switch the power off and on "
        f"again (scons mode=no-flash run runs the programs that are in flash)"
    )


def running(board: Board) -> str:
    """Return a hint for a board that does not start the programs in flash."""
    return f"set the boot selectors for running: {board.programmer.flash_boot}; then switch the power off and on again"
