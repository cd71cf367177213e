"""What the console says about programming a board, before and after."""

from __future__ import annotations

from n6build.base.console import kib, say
from n6build.base.size_text import counted
from n6build.flash.program import FlashPlan, describe
from n6build.flash.programmer import Programmer
from n6build.flash.receipt import VIRTUAL
from n6build.flash.sectors import bytes_of
from n6build.hardware.board import Board

# About as long as anybody watches a line that does not change.
_SECONDS_IN_SILENCE = 2.0


def announce(plan: FlashPlan, programmer: Programmer, *, dry: bool) -> None:
    """Says what is going to be programmed, if that takes a while; with `dry`, what would be."""
    if dry or len(plan.lacking) * programmer.seconds_a_sector > _SECONDS_IN_SILENCE:
        for text in describe(plan, programmer.seconds_a_sector):
            say("Would flash" if dry else "Program", text)


def say_flashed(plan: FlashPlan, programmer: Programmer, board: Board, *, starts_from_ram: bool) -> None:
    """Says what was programmed. starts_from_ram: nobody has to set the boot selectors next."""
    size = kib(bytes_of(plan.lacking))
    what = f"{len(plan.lacking)} of {counted(len(plan.wanted), 'sector')} programmed and verified ({size})"
    say("Flashed", f"{board.name} ({programmer.name})", what if plan.lacking else "holds all of it already")
    if plan.lacking and programmer.name != VIRTUAL and not starts_from_ram:
        say("To run", f"boot selectors: {board.programmer.flash_boot}", "then switch the power off and on")
