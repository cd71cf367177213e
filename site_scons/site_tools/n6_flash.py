"""SCons tool, stage 4: env.N6Flash(manifest) -> the receipt of a board that holds what the manifest lists; env.N6FlashModels ->
the same of relocatable models with two slots, each put into the one that is not in use.

Construction variables: N6_PROBE (as flash.choose has it), N6_BUILD (folder of all build products), N6_PAIR (of
a matrix, which has a virtual board for each).
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from n6build.console import kib, say
from n6build.errors import N6Error
from n6build.files import to_json, write_atomically
from n6build.flash.choose import choose_programmer
from n6build.flash.program import (
    FlashPlan,
    board_lock,
    carry_out,
    counted,
    describe,
    plan_all,
    plan_delta,
)
from n6build.flash.programmer import Programmer, Span
from n6build.flash.sectors import Sector
from n6build.flash.survey import checked_identity, held_record, recorded
from n6build.flash.virtual import VIRTUAL, VIRTUAL_RECORD
from n6scons import library_files, stage_action, stop_with
from SCons.Script import COMMAND_LINE_TARGETS

# About as long as somebody looks at a line that does not change.
_SECONDS_IN_SILENCE = 2.0


def generate(env: Any) -> None:
    env.SetDefault(N6_FLASH_DRY=False, N6_PAIR="")
    env.AddMethod(_flash, "N6Flash")
    env.AddMethod(_flash_models, "N6FlashModels")
    env.AddMethod(_flash_application, "N6FlashApplication")
    env.AddMethod(_virtual_folder, "N6VirtualBoardFolder")
    env.AddMethod(_say_lacking, "N6SayLacking")


def exists(env: Any) -> bool:
    return True


def _say_lacking(env: Any, manifest: Path) -> None:
    """How much of a build the board that was programmed last does not hold yet. No board is asked."""
    from n6build.flash.program import lacking_now
    from n6build.flash.record import records_folder
    from n6build.flash.sectors import wanted_sectors
    from n6build.image.manifest import read_manifest

    records = [_virtual_folder(env) / VIRTUAL_RECORD, *records_folder().glob("*.json")]
    wanted = wanted_sectors(read_manifest(manifest), manifest.parent)
    found = lacking_now(wanted, env["N6_BOARD"].name, records)
    if found is None:
        size = sum(len(sector.data) for sector in wanted)
        say("To flash", f"{counted(len(wanted))} ({kib(size)}), all of it: no such board was programmed from here")
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
    if env["N6_FLASH_DRY"] and "run" in COMMAND_LINE_TARGETS:
        stop_with(N6Error("N6-OPTION-006", "dry=1 programs nothing, and 'run' would run what was there before"))
    if "no-flash" in env["N6_MODES"]:
        if {"flash", "flash-all", "flash-model"} & set(COMMAND_LINE_TARGETS):
            stop_with(N6Error("N6-OPTION-008", "mode=no-flash programs nothing", hint="leave the flash targets away"))
        return {"flash": [], "flash-model": []}
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
    """Looks for the board while the build is read: a missing one is said before anything is compiled.

    part: of an application that is programmed in several, such as 'models'.
    """
    board = env["N6_BOARD"]
    try:
        programmer = choose_programmer(env["N6_PROBE"], board, _virtual_folder(env))
    except N6Error as error:
        stop_with(error)

    def program(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.flash.sectors import wanted_sectors
        from n6build.image.manifest import read_manifest

        path = Path(str(source[0]))
        with board_lock(programmer):
            plan = _plan(env, wanted_sectors(read_manifest(path), path.parent), programmer)
            if _only_says(env, plan, programmer):
                return
            carry_out(plan, programmer)
        _say_flashed(env, programmer, plan)
        _write_receipt(Path(str(target[0])), board.name, programmer.name, plan)

    receipt = env.Command(
        _receipt_path(env, programmer, part), [manifest, *images], stage_action("Flash", program, stage="flash")
    )
    _depends_on_board(env, receipt, programmer)
    return receipt[0]


def _plan(env: Any, wanted: list[Sector], programmer: Programmer) -> FlashPlan:
    board = env["N6_BOARD"]
    everything = "flash-all" in COMMAND_LINE_TARGETS
    record = recorded(programmer, board.name)
    if not env["N6_FLASH_DRY"]:
        identity = checked_identity(programmer, board)
        record = (
            replace(record, identity=identity) if everything else held_record(wanted, board.name, programmer, identity)
        )
    return plan_all(wanted, record) if everything else plan_delta(wanted, record)


def _only_says(env: Any, plan: FlashPlan, programmer: Programmer) -> bool:
    """What is going to be programmed, where that takes a while or nothing else is wanted."""
    dry = env["N6_FLASH_DRY"]
    if dry or len(plan.lacking) * programmer.seconds_a_sector > _SECONDS_IN_SILENCE:
        for text in describe(plan, programmer.seconds_a_sector):
            say("Would flash" if dry else "Program", text)
    return bool(dry)


def _receipt_path(env: Any, programmer: Programmer, part: str) -> str:
    """A dry run is a target of its own, which never exists: it must not pass for what it only tells of."""
    dry = "dry" if env["N6_FLASH_DRY"] else ""
    name = "-".join(word for word in (programmer.name, env["N6_BOARD"].name, env["N6_PAIR"], part, dry) if word)
    return f"{env['N6_BUILD']}/flash/{name}.json"


def _depends_on_board(env: Any, receipt: Any, programmer: Programmer) -> None:
    env.Depends(receipt, library_files(env, "flash", "reloc"))
    env.NoCache(receipt)
    held = recorded(programmer, env["N6_BOARD"].name).sectors
    said = _sectors_of(Path(str(receipt[0])))
    changed = said is None or any(held.get(address) != digest for address, digest in said.items())
    # A board on a cable may be another one now, or programmed by another tool: it is looked at every time.
    if changed or env["N6_PROBE"] != VIRTUAL or "flash-all" in COMMAND_LINE_TARGETS:
        env.AlwaysBuild(receipt)


def _say_flashed(env: Any, programmer: Programmer, plan: FlashPlan) -> None:
    board = env["N6_BOARD"]
    size = sum(len(sector.data) for sector in plan.lacking)
    what = f"{len(plan.lacking)} of {counted(len(plan.wanted))} programmed and verified ({kib(size)})"
    say("Flashed", f"{board.name} ({programmer.name})", what if plan.lacking else "holds all of it already")
    if plan.lacking and env["N6_PROBE"] != VIRTUAL:
        say("To run", f"boot selectors: {board.programmer.flash_boot}", "then switch the power off and on")


def _write_receipt(path: Path, board: str, probe: str, plan: FlashPlan) -> None:
    """sectors: what the board holds of what was asked for. programmed: those of them that it lacked."""
    sectors = {f"0x{sector.address:08X}": sector.sha256 for sector in plan.wanted}
    programmed = [f"0x{sector.address:08X}" for sector in plan.lacking]
    write_atomically(path, to_json({"board": board, "probe": probe, "programmed": programmed, "sectors": sectors}))


def _flash_models(env: Any, plan: Any, images: list[Any], programs: list[Any]) -> Any:
    """plan: memory_plan.json. images: of its models' slots. programs: ELF files of FSBL and Appli, for source lines.

    Ends well where the board has started with the new models; real boards decide at their next start.
    """
    board = env["N6_BOARD"]
    try:
        programmer = choose_programmer(env["N6_PROBE"], board, _virtual_folder(env))
    except N6Error as error:
        stop_with(error)
    elves = [Path(str(program)) for program in programs]

    def program(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.flash.model_update import check_running, plan_updates, read_running, remember_running
        from n6build.flash.sectors import sectors_of
        from n6build.memory_plan.plan import read_plan

        path = Path(str(source[0]))
        record = programmer.record
        with board_lock(programmer):

            def read(address: int, size: int) -> bytes:
                return programmer.read([Span(address, size)])[0]

            updates = plan_updates(read_plan(path), path.parent, read, read_running(record))
            wanted = [
                sector
                for update in updates
                for sector in sectors_of([(address, data) for _, address, data in update.images], board.nor.sector)
            ]
            flash = _plan(env, wanted, programmer)
            if _only_says(env, flash, programmer):
                return
            carry_out(flash, programmer)
        for update in updates:
            what = "is put into" if update.is_new else "is in"
            say("Update", update.model, f"{what} slot {update.letter} as revision {update.revision}")
        _say_flashed(env, programmer, flash)
        if env["N6_PROBE"] == VIRTUAL:
            from n6build.run.session import start_virtual_board

            started = start_virtual_board(board, len(updates), _virtual_folder(env), elves)
            remember_running(record, started.models)
            check_running(updates, started.models, started.refused)
        _write_receipt(Path(str(target[0])), board.name, programmer.name, flash)

    receipt = env.Command(
        _receipt_path(env, programmer, "models"),
        [plan, *images, *programs],
        stage_action("Flash", program, stage="flash"),
    )
    _depends_on_board(env, receipt, programmer)
    return receipt[0]


def _sectors_of(receipt: Path) -> dict[int, str] | None:
    """None where there is no receipt."""
    try:
        return {int(address, 16): str(digest) for address, digest in json.loads(receipt.read_text())["sectors"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
