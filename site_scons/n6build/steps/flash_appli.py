"""Stage 4 for an Appli with two slots (trial=on): writes it to the free slot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from n6build.base.console import say
from n6build.base.files import read_bytes
from n6build.base.span import Span
from n6build.board.flash.announce import announce, say_flashed, warn_of_fuses
from n6build.board.flash.appli_update import plan_appli
from n6build.board.flash.choose import chosen_programmer
from n6build.board.flash.program import board_lock, carry_out
from n6build.board.flash.receipt import write_receipt
from n6build.board.flash.sectors import sectors_of
from n6build.board.flash.survey import checked_identity
from n6build.describe.hardware.board import Board
from n6build.engine.step import Call, Step, to_parameters
from n6build.steps.board_files import board_as_chosen, boards_folders
from n6build.steps.flash_board import Target, planned, receipt_of


def flash_appli_step(output: str, image: str, board: Board, target: Target, after: Sequence[str]) -> Step:
    """Return the step that programs the Appli into its free slot.

    Args:
        output: Path of the receipt.
        image: Appli with its boot header.
        board: Board with two slots of the Appli.
        target: Board and programmer.
        after: Receipts of the other images.
    """
    return Step(
        verb="Flash",
        stage="flash",
        outputs=(output,),
        sources=(image,),
        parameters=to_parameters(target),
        state=(target.virtual_board, *boards_folders(board)),
        after=tuple(after),
        function="n6build.steps.flash_appli:perform_flash_appli",
        shared=False,
    )


def perform_flash_appli(call: Call) -> None:
    """Program the Appli into its free slot, and write the receipt."""
    target = call.parameters_as(Target)
    board = board_as_chosen(Path(target.file), target.board)
    assert board.trial is not None
    assert board.trial.appli is not None
    programmer = chosen_programmer(target.probe, board, Path(target.virtual_board))
    image = call.sources[0]
    with board_lock(programmer):
        # Identify the board before reading from it: another board's flash would be read in the wrong way.
        identity = checked_identity(programmer, board)

        def read(address: int, size: int) -> bytes:
            return programmer.read([Span(address, size)])[0]

        slots = (board.slots.appli, board.trial.appli)
        update = plan_appli(read_bytes(image), slots, board.trial, read, image.name)
        wanted = sectors_of([(update.address, update.stored)], board.nor.sector)
        flash = planned(wanted, programmer, board, identity, target)
        warn_of_fuses(target.counter, board)
        announce(flash, programmer, dry=False)
        carry_out(flash, programmer)
    what = "written to" if update.is_new else "already in"
    say("Update", "Appli", f"{what} slot {update.letter} as revision {update.revision}")
    say_flashed(flash, programmer, board, starts_from_ram=target.start == "ram")
    write_receipt(call.outputs[0], receipt_of(flash, board, programmer))
