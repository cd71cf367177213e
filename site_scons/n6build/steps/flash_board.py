"""Stage 4: programs a board with the images of a manifest, and writes a receipt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from n6build.board.flash.announce import announce, say_flashed, warn_of_fuses
from n6build.board.flash.probe_programmer import ProbeProgrammer
from n6build.board.flash.probes import chosen_programmer
from n6build.board.flash.program import FlashPlan, board_lock, carry_out, plan_all, plan_delta
from n6build.board.flash.programmer import Identity, Programmer
from n6build.board.flash.receipt import Receipt, write_receipt
from n6build.board.flash.record import BoardRecord
from n6build.board.flash.sectors import Sector, wanted_sectors
from n6build.board.flash.survey import checked_identity, held_record, recorded
from n6build.board.flash.virtual import VirtualProgrammer
from n6build.describe.hardware.board import Board
from n6build.engine.step import Call, Step, to_parameters
from n6build.place.image.manifest import read_manifest
from n6build.steps.board_files import BoardChoice, board_as_chosen, boards_folders


@dataclass(frozen=True)
class Target:
    """A board that is programmed.

    Attributes:
        file: Description of the board, which decides how it is programmed, but not the programmed bytes.
        board: Choices for the board.
        probe: Programmer, in the form of option probe.
        name: Name of the programmer, such as 'virtual' or a serial number.
        virtual_board: Folder of the virtual board.
        start: Start from flash, or from RAM by the debugger.
        everything: Program all sectors, even those that the board is recorded to hold.
        dry: Only report.
        foreign: A third-party program is on the board.
        fuses: File with the virtual board's fuses, or the board that lends its own; empty for the board's.
        harsh: Seed of the virtual board, as in NorBoot.
        key: File with the key that the virtual board has in its fuses; empty for none.
        counter: Security counter that the FSBL will program into fuses; 0 if it programs none.
    """

    file: str
    board: BoardChoice
    probe: str
    name: str
    virtual_board: str
    start: Literal["flash", "ram"]
    everything: bool = False
    dry: bool = False
    foreign: bool = False
    fuses: str = ""
    harsh: int = 0
    key: str = ""
    counter: int = 0

    def opened(self) -> tuple[Board, VirtualProgrammer | ProbeProgrammer]:
        """Return the board, with the choices applied, and its programmer."""
        board = board_as_chosen(Path(self.file), self.board)
        return board, chosen_programmer(self.probe, board, Path(self.virtual_board))


def board_step(
    verb: str,
    stage: str,
    function: str,
    outputs: Iterable[str],
    sources: Iterable[str],
    board: Board,
    target: Target,
    parameters: object = None,
) -> Step:
    """Return a step on a board, whose outputs no other checkout may take.

    Args:
        verb: Name on the console.
        stage: Name in the summary.
        function: Function of the step.
        outputs: Files that it makes.
        sources: Files that it reads.
        board: Board of the step.
        target: Board and programmer.
        parameters: Parameters of the step; None for `target`.
    """
    return Step(
        verb=verb,
        stage=stage,
        outputs=tuple(outputs),
        sources=tuple(sources),
        parameters=to_parameters(parameters or target),
        state=(target.virtual_board, *boards_folders(board)),
        function=function,
        shared=False,
    )


def flash_board_step(output: str, manifest: str, images: Sequence[str], board: Board, target: Target) -> Step:
    """Return the step that programs a board.

    Args:
        output: Path of the receipt. A dry run has a different one, so that it does not pass for a
            flashed board.
        manifest: Path of the flash manifest.
        images: Files that the manifest lists.
        board: Board to program.
        target: Board and programmer.
    """
    function = "n6build.steps.flash_board:perform_flash_board"
    return board_step("Flash", "flash", function, (output,), (manifest, *images), board, target)


def perform_flash_board(call: Call) -> None:
    """Program the sectors that the board lacks, and write the receipt."""
    target = call.parameters_as(Target)
    board, programmer = target.opened()
    manifest = call.sources[0]
    with board_lock(programmer):
        identity = None if target.dry else checked_identity(programmer, board)
        plan = planned(wanted_sectors(read_manifest(manifest), manifest.parent), programmer, board, identity, target)
        warn_of_fuses(target.counter, board)
        announce(plan, programmer, dry=target.dry)
        if identity is not None:
            # An interrupted update of the FSBL leaves one of its copies valid.
            carry_out(plan, programmer, board.fsbl_copies)
    if target.dry:
        # The receipt lists no sectors, so that it does not pass for the receipt of a programmed board.
        write_receipt(call.outputs[0], Receipt(board.name, programmer.name, (), {}))
        return
    say_flashed(plan, programmer, board, starts_from_ram=target.start == "ram")
    write_receipt(call.outputs[0], receipt_of(plan, board, programmer))


def planned(
    wanted: list[Sector], programmer: Programmer, board: Board, identity: Identity | None, target: Target
) -> FlashPlan:
    """Return the sectors to program.

    Args:
        wanted: Sectors of the images.
        programmer: Programmer of the board.
        board: Board to program.
        identity: Identity of the connected board, whose flash is then examined; None for a dry run.
        target: Board and programmer.
    """
    record = recorded(programmer, board.name)
    if identity is not None and target.everything:
        # Trust the record of all other sectors only if nothing casts doubt on it.
        record = BoardRecord(board.name) if record.doubt else record
        record = replace(record, identity=identity)
    elif identity is not None:
        record = held_record(wanted, board.name, programmer, identity)
    return plan_all(wanted, record) if target.everything else plan_delta(wanted, record)


def receipt_of(plan: FlashPlan, board: Board, programmer: Programmer) -> Receipt:
    """Return a receipt that lists the wanted sectors and the programmed ones."""
    sectors = {sector.address: sector.sha256 for sector in plan.wanted}
    return Receipt(board.name, programmer.name, tuple(sector.address for sector in plan.lacking), sectors)
