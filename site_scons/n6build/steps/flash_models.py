"""Stage 4 for two slots: writes an Appli or models to free slots.

Stage 4 for relocatable models with two slots: writes new models to free slots. On the virtual board
this succeeds only if the board starts the new models. A real board decides at its next start. The
models of a signed release wait for their Appli, which is programmed last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from n6build.base.console import say
from n6build.base.files import read_bytes
from n6build.base.span import Span
from n6build.board.flash.announce import announce, say_flashed, warn_of_fuses
from n6build.board.flash.appli_update import kept_appli, plan_appli
from n6build.board.flash.model_update import check_running, plan_updates, read_running, remember_running, running_of
from n6build.board.flash.program import board_lock, carry_out
from n6build.board.flash.receipt import VIRTUAL, write_receipt
from n6build.board.flash.sectors import sectors_of
from n6build.board.flash.survey import checked_identity
from n6build.board.run.session import start_virtual_board
from n6build.describe.hardware.board import Board, Slot
from n6build.engine.step import Call, Step
from n6build.place.memory_plan.plan import read_plan
from n6build.place.trust.release import find_release
from n6build.steps.emulator import boot_of, emulator_files, emulator_templates
from n6build.steps.flash_board import Target, board_step, planned, receipt_of


def flash_appli_step(output: str, image: str, board: Board, target: Target) -> Step:
    """Return the step that programs the Appli into its free slot.

    Args:
        output: Path of the receipt.
        image: Appli with its boot header.
        board: Board with two slots of the Appli.
        target: Board and programmer.
    """
    function = "n6build.steps.flash_models:perform_flash_appli"
    return board_step("Flash", "flash", function, (output,), (image,), board, target)


def perform_flash_appli(call: Call) -> None:
    """Program the Appli into its free slot, and write the receipt."""
    target = call.parameters_as(Target)
    board, programmer = target.opened()
    assert board.trial is not None
    assert board.trial.appli is not None
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


@dataclass(frozen=True)
class FlashModelsParameters(Target):
    """Parameters of the step.

    Attributes:
        applis: Slots of a signed Appli, whose release names the models that stay; empty without signatures.
        journal: Slot of the journal of trials, if that Appli has two slots.
    """

    applis: tuple[Slot, ...] = ()
    journal: Slot | None = None


def flash_models_step(
    output: str,
    plan: str,
    elves: Sequence[str],
    images: Sequence[str],
    board: Board,
    target: Target,
    *,
    applis: tuple[Slot, ...],
) -> Step:
    """Return the step that programs new models into their free slots.

    Args:
        output: Path of the receipt.
        plan: Path of memory_plan.json.
        elves: Available ELF files of the programs, for source lines.
        images: Images of the models.
        board: Board to program.
        target: Board and programmer.
        applis: Slots of a signed Appli; empty without signatures.
    """
    journal = board.trial.journal if board.trial and len(applis) > 1 else None
    function = "n6build.steps.flash_models:perform_flash_models"
    sources = (plan, *images, *elves, *emulator_files(target, board))
    parameters = FlashModelsParameters(**vars(target), applis=applis, journal=journal)
    step = board_step("Flash", "flash", function, (output,), sources, board, parameters)
    return replace(step, templates=emulator_templates(target))


def perform_flash_models(call: Call) -> None:
    """Program new models into their free slots, and write the receipt."""
    target = call.parameters_as(FlashModelsParameters)
    board, programmer = target.opened()
    path = call.sources[0]
    elves = [file for file in call.sources if file.suffix == ".elf"]
    record = programmer.record
    with board_lock(programmer):
        # Identify the board before reading from it: another board's flash would be read in the wrong way.
        identity = checked_identity(programmer, board)

        def read(address: int, size: int) -> bytes:
            return programmer.read([Span(address, size)])[0]

        plan, running = read_plan(path), read_running(record)
        if target.applis:
            running = running_of(plan, find_release(kept_appli(target.applis, target.journal, read)) or (), read)
        updates = plan_updates(plan, path.parent, read, running)
        # The sectors are in the order of the images, with the weights of a model first.
        wanted = [
            sector
            for update in updates
            for _, address, data in update.images
            for sector in sectors_of([(address, data)], board.nor.sector)
        ]
        flash = planned(wanted, programmer, board, identity, target)
        announce(flash, programmer, dry=False)
        carry_out(flash, programmer)
    for update in updates:
        what = "written to" if update.is_new else "already in"
        say("Update", update.model, f"{what} slot {update.letter} as revision {update.revision}")
    say_flashed(flash, programmer, board, starts_from_ram=target.start == "ram")
    if target.probe == VIRTUAL and not target.applis:
        started = start_virtual_board(boot_of(target, board), len(updates), elves)
        remember_running(record, started.models)
        check_running(updates, started.models, started.refused)
    write_receipt(call.outputs[0], receipt_of(flash, board, programmer))
