"""SCons tool, stage 4: env.N6Flash(manifest) -> the receipt of a board that holds what the manifest lists.

Construction variables: N6_PROBE ('auto', 'virtual' or a serial number), N6_BUILD (folder of all build products).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from n6build.console import kib, say
from n6build.errors import N6Error
from n6build.files import to_json, write_atomically
from n6build.flash.probes import choose_programmer
from n6build.flash.program import board_lock, carry_out, current_record, plan_flash
from n6scons import library_files, stage_action, stop_with


def generate(env: Any) -> None:
    env.AddMethod(_flash, "N6Flash")
    env.AddMethod(_virtual_folder, "N6VirtualBoardFolder")


def exists(env: Any) -> bool:
    return True


def _virtual_folder(env: Any) -> Path:
    return Path(env["N6_BUILD"]) / "virtual_board" / env["N6_BOARD"].name


def _flash(env: Any, manifest: Any, images: list[Any]) -> Any:
    """Looks for the board while the build is read: a missing one is said before anything is compiled."""
    board = env["N6_BOARD"]
    try:
        programmer = choose_programmer(env["N6_PROBE"], board, _virtual_folder(env))
    except N6Error as error:
        stop_with(error)

    def program(target: list[Any], source: list[Any], env: Any) -> None:
        from n6build.image.manifest import read_manifest

        path = Path(str(source[0]))
        manifest = read_manifest(path)
        with board_lock(programmer):
            plan = plan_flash(manifest, path.parent, programmer)
            record = carry_out(plan, programmer)
        programmed = [f"0x{sector.address:08X}" for sector in plan.lacking]
        size = sum(len(sector.data) for sector in plan.lacking)
        what = (
            f"{len(programmed)} of {len(plan.wanted)} sectors programmed and verified"
            if programmed
            else "holds all of it already"
        )
        say("Flashed", f"{board.name} ({programmer.name})", f"{what}" + (f" ({kib(size)})" if programmed else ""))
        receipt = {"board": board.name, "probe": programmer.name, "record": record.digest, "programmed": programmed}
        write_atomically(Path(str(target[0])), to_json(receipt))

    receipt = env.Command(
        f"{env['N6_BUILD']}/flash/{programmer.name}-{board.name}.json",
        [manifest, *images],
        stage_action("Flash", program, stage="flash"),
    )
    env.Depends(receipt, library_files(env, "flash"))
    env.NoCache(receipt)
    if _recorded(Path(str(receipt[0]))) != current_record(programmer, board.name).digest:
        # Somebody else programmed this board since, or it is another one: what the receipt says is no longer true.
        env.AlwaysBuild(receipt)
    return receipt[0]


def _recorded(receipt: Path) -> str | None:
    try:
        return str(json.loads(receipt.read_text())["record"])
    except (OSError, ValueError, KeyError):
        return None
