"""SCons tool, stage 4: env.N6FlashModels(plan, ...) -> the receipt of a board that holds relocatable models with two slots, each
put into the one that is not in use.

Construction variables: as of n6_flash.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from n6build.console import say
from n6build.errors import N6Error
from n6build.flash.program import board_lock, carry_out
from n6build.flash.programmer import Span
from n6build.flash.survey import checked_identity
from n6build.flash.virtual import VIRTUAL
from n6receipts import announce, depends_on_board, planned, programmer_of, receipt_path, say_flashed, write_receipt
from n6scons import stage_action, stop_with


def generate(env: Any) -> None:
    env.AddMethod(_flash_models, "N6FlashModels")


def exists(env: Any) -> bool:
    return True


def _flash_models(env: Any, plan: Any, images: list[Any], programs: list[Any]) -> Any:
    """plan: memory_plan.json. images: of its models' slots. programs: ELF files of FSBL and Appli, for source lines.

    Ends well where the board has started with the new models; real boards decide at their next start.
    """
    board, programmer = env["N6_BOARD"], programmer_of(env)
    if env["N6_FLASH_DRY"]:
        what = "with slots=2 it depends on what the board holds what is programmed; dry=1 does not ask it"
        stop_with(N6Error("N6-OPTION-006", what, hint="leave dry=1 away, or slots=2"))
    elves = [Path(str(program)) for program in programs]

    def program(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.flash.model_update import check_running, plan_updates, read_running, remember_running
        from n6build.flash.sectors import sectors_of
        from n6build.memory_plan.plan import read_plan

        path = Path(str(source[0]))
        record = programmer.record
        with board_lock(programmer):
            # Before anything of it is read: another board would be read in the wrong way.
            identity = checked_identity(programmer, board)

            def read(address: int, size: int) -> bytes:
                return programmer.read([Span(address, size)])[0]

            updates = plan_updates(read_plan(path), path.parent, read, read_running(record))
            # In the order of the images: the weights of a model first.
            wanted = [
                sector
                for update in updates
                for _, address, data in update.images
                for sector in sectors_of([(address, data)], board.nor.sector)
            ]
            flash = planned(env, wanted, programmer, identity)
            announce(env, flash, programmer)
            carry_out(flash, programmer)
        for update in updates:
            what = "is put into" if update.is_new else "is in"
            say("Update", update.model, f"{what} slot {update.letter} as revision {update.revision}")
        say_flashed(env, programmer, flash)
        if env["N6_PROBE"] == VIRTUAL:
            from n6build.run.session import start_virtual_board

            started = start_virtual_board(board, len(updates), env.N6VirtualBoardFolder(), elves)
            remember_running(record, started.models)
            check_running(updates, started.models, started.refused)
        write_receipt(Path(str(target[0])), board.name, programmer.name, flash)

    receipt = env.Command(
        receipt_path(env, programmer, "models"),
        [plan, *images, *programs],
        stage_action("Flash", program, stage="flash"),
    )
    depends_on_board(env, receipt, programmer)
    return receipt[0]
