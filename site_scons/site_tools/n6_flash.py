"""SCons tool, stage 4: env.N6Flash(manifest) -> the receipt of a board that holds what the manifest lists;
env.N6FlashApplication -> those of a whole application.

Construction variables: N6_PROBE (as flash.choose has it), N6_BUILD (folder of all build products), N6_PAIR (of a matrix, which
has a virtual board for each).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from n6build.console import kib, say
from n6build.errors import N6Error
from n6build.flash.program import board_lock, carry_out, counted
from n6build.flash.survey import checked_identity
from n6build.flash.virtual import VIRTUAL_RECORD
from n6receipts import announce, depends_on_board, planned, programmer_of, receipt_path, say_flashed, write_receipt
from n6scons import stage_action, stop_with
from SCons.Script import COMMAND_LINE_TARGETS


def generate(env: Any) -> None:
    env.SetDefault(N6_FLASH_DRY=False, N6_PAIR="", N6_START="flash", N6_MODES=())
    env.AddMethod(_flash, "N6Flash")
    env.AddMethod(_flash_application, "N6FlashApplication")
    env.AddMethod(_virtual_folder, "N6VirtualBoardFolder")
    env.AddMethod(_say_lacking, "N6SayLacking")


def exists(env: Any) -> bool:
    return True


def _say_lacking(env: Any, manifest: Path) -> None:
    """How much of a build the board that was programmed last does not hold yet. No board is asked."""
    from n6build.flash.program import lacking_now
    from n6build.flash.record import records_folder
    from n6build.flash.sectors import bytes_of, wanted_sectors
    from n6build.image.manifest import read_manifest

    records = [_virtual_folder(env) / VIRTUAL_RECORD, *records_folder().glob("*.json")]
    wanted = wanted_sectors(read_manifest(manifest), manifest.parent)
    found = lacking_now(wanted, env["N6_BOARD"].name, records)
    if found is None:
        say(
            "To flash",
            f"{counted(len(wanted))} ({kib(bytes_of(wanted))}), all of it: no such board was programmed from here",
        )
    else:
        name, sectors, size = found
        say("To flash", f"{counted(sectors)} ({kib(size)}) that board {name} does not hold yet")


def _flash_application(
    env: Any,
    folder: str,
    plan: Any,
    manifest: Any,
    programs: list[tuple[str, Any]],
    weights: list[tuple[str, Any]],
    elves: list[Any],
) -> dict[str, list[Any]]:
    """The receipts of targets 'flash' (all of it) and 'flash-model' (relocatable models alone, or none).

    programs, weights: (flash slot, image). manifest: of both. Of models with two slots only one of them is written, and the
    rest first.
    """
    if "no-flash" in env["N6_MODES"]:
        if {"flash", "flash-all", "flash-model"} & set(COMMAND_LINE_TARGETS):
            stop_with(N6Error("N6-OPTION-008", "mode=no-flash programs nothing", hint="leave the flash targets away"))
        return {"flash": [], "flash-model": []}
    if env["N6_FLASH_DRY"] and "run" in COMMAND_LINE_TARGETS:
        what = "dry=1 programs nothing, and 'run' would run what was there before"
        stop_with(N6Error("N6-OPTION-006", what, hint="mode=no-flash, if that is wanted"))
    images = [image for _, image in weights]
    if env["N6_LOADER"] != "reloc":
        if "flash-model" in COMMAND_LINE_TARGETS:
            stop_with(N6Error("N6-FLASH-023", "the network is linked into the Appli", hint="loader=reloc"))
        return {"flash": [env.N6Flash(manifest, [image for _, image in programs + weights])], "flash-model": []}
    alone = "flash-model" in COMMAND_LINE_TARGETS and not {"flash", "flash-all"} & set(COMMAND_LINE_TARGETS)
    if env["N6_RELOC_SLOTS"] == 1:
        models = env.N6FlashManifest(f"{folder}/model_manifest.json", weights, plan)
        return {
            "flash": [env.N6Flash(manifest, [image for _, image in programs + weights])] if not alone else [],
            "flash-model": [env.N6Flash(models, images, part="models")] if alone else [],
        }
    models = env.N6FlashModels(plan, images, elves)
    if alone:
        return {"flash": [], "flash-model": [models]}
    rest = env.N6FlashManifest(f"{folder}/programs_manifest.json", programs, plan)
    receipt = env.N6Flash(rest, [image for _, image in programs], part="programs")
    env.Requires(models, receipt)
    return {"flash": [receipt, models], "flash-model": []}


def _virtual_folder(env: Any) -> Path:
    return Path(env["N6_BUILD"]) / "virtual_board" / env["N6_BOARD"].name / env["N6_PAIR"]


def _flash(env: Any, manifest: Any, images: list[Any], part: str = "") -> Any:
    """part: of an application that is programmed in several, such as 'models'."""
    board, programmer = env["N6_BOARD"], programmer_of(env)

    def program(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.flash.sectors import wanted_sectors
        from n6build.image.manifest import read_manifest

        path = Path(str(source[0]))
        with board_lock(programmer):
            identity = None if env["N6_FLASH_DRY"] else checked_identity(programmer, board)
            plan = planned(env, wanted_sectors(read_manifest(path), path.parent), programmer, identity)
            announce(env, plan, programmer)
            if identity is None:
                return
            carry_out(plan, programmer)
        say_flashed(env, programmer, plan)
        write_receipt(Path(str(target[0])), board.name, programmer.name, plan)

    receipt = env.Command(
        receipt_path(env, programmer, part), [manifest, *images], stage_action("Flash", program, stage="flash")
    )
    depends_on_board(env, receipt, programmer)
    return receipt[0]
