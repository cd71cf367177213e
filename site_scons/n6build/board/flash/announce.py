"""Console messages before and after a board is programmed."""

from __future__ import annotations

from n6build.base.console import kib, say
from n6build.base.size_text import counted
from n6build.board.flash.program import FlashPlan, describe
from n6build.board.flash.programmer import Programmer
from n6build.board.flash.receipt import VIRTUAL
from n6build.board.flash.sectors import bytes_of
from n6build.describe.hardware.board import Board

# A longer wait needs a message: a user watches an unchanged line for about this time.
_SECONDS_IN_SILENCE = 2.0


def announce(plan: FlashPlan, programmer: Programmer, *, dry: bool) -> None:
    """Print the sectors to program if programming takes longer than two seconds.

    Args:
        plan: Sectors to program.
        programmer: Programmer of the board.
        dry: True to print in any case that the sectors would be programmed.
    """
    if dry or len(plan.lacking) * programmer.seconds_a_sector > _SECONDS_IN_SILENCE:
        for text in describe(plan, programmer.seconds_a_sector):
            say("Would flash" if dry else "Program", text)


def warn_of_fuses(counter: int, board: Board) -> None:
    """Print that the programs to be flashed will program fuses, if they do.

    Args:
        counter: Security counter that the FSBL will program into fuses; 0 if it programs none.
        board: The board.
    """
    if counter:
        what = f"once this release is confirmed, its FSBL programs the fuses of word {board.soc.security_counter}"
        say("Warning", what, f"and no release with a counter below {counter} starts again", style="bad")


def say_flashed(plan: FlashPlan, programmer: Programmer, board: Board, *, starts_from_ram: bool) -> None:
    """Print the programmed sectors and the next step.

    Args:
        plan: Sectors that were programmed.
        programmer: Programmer of the board.
        board: The board.
        starts_from_ram: True if the boot selectors need no change to run the programs.
    """
    size = kib(bytes_of(plan.lacking))
    what = f"{len(plan.lacking)} of {counted(len(plan.wanted), 'sector')} programmed and verified ({size})"
    say("Flashed", f"{board.name} ({programmer.name})", what if plan.lacking else "already up to date")
    if plan.lacking and programmer.name != VIRTUAL and not starts_from_ram:
        say("To run", f"boot selectors: {board.programmer.flash_boot}", "then switch the power off and on again")
