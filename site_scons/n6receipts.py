"""What the SCons tools that program a board share: what it lacks, what is said of it, and its receipts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from n6build.console import kib, say
from n6build.errors import N6Error
from n6build.files import to_json, write_atomically
from n6build.flash.choose import choose_programmer
from n6build.flash.program import FlashPlan, counted, describe, plan_all, plan_delta
from n6build.flash.programmer import Identity, Programmer
from n6build.flash.sectors import Sector, bytes_of
from n6build.flash.survey import held_record, recorded
from n6build.flash.virtual import VIRTUAL
from n6scons import library_files, stop_with
from SCons.Script import COMMAND_LINE_TARGETS

# About as long as somebody looks at a line that does not change.
_SECONDS_IN_SILENCE = 2.0


def programmer_of(env: Any) -> Programmer:
    """While the build is read: a board that is missing is said before anything is compiled."""
    try:
        return choose_programmer(env["N6_PROBE"], env["N6_BOARD"], env.N6VirtualBoardFolder())
    except N6Error as error:
        stop_with(error)


def planned(env: Any, wanted: list[Sector], programmer: Programmer, identity: Identity | None) -> FlashPlan:
    """identity: of the board, which is looked at; None for a dry run. With target flash-all everything is lacking."""
    board = env["N6_BOARD"].name
    everything = "flash-all" in COMMAND_LINE_TARGETS
    record = recorded(programmer, board)
    if identity is not None:
        record = replace(record, identity=identity) if everything else held_record(wanted, board, programmer, identity)
    return plan_all(wanted, record) if everything else plan_delta(wanted, record)


def announce(env: Any, plan: FlashPlan, programmer: Programmer) -> None:
    """What is going to be programmed, where that takes a while, or would be."""
    dry = env["N6_FLASH_DRY"]
    if dry or len(plan.lacking) * programmer.seconds_a_sector > _SECONDS_IN_SILENCE:
        for text in describe(plan, programmer.seconds_a_sector):
            say("Would flash" if dry else "Program", text)


def receipt_path(env: Any, programmer: Programmer, part: str) -> str:
    """A dry run is a target of its own, which never exists: it must not pass for what it only tells of."""
    dry = "dry" if env["N6_FLASH_DRY"] else ""
    name = "-".join(word for word in (programmer.name, env["N6_BOARD"].name, env["N6_PAIR"], part, dry) if word)
    return f"{env['N6_BUILD']}/flash/{name}.json"


def depends_on_board(env: Any, receipt: Any, programmer: Programmer) -> None:
    env.Depends(receipt, library_files(env, "flash", "reloc"))
    env.NoCache(receipt)
    held = recorded(programmer, env["N6_BOARD"].name).sectors
    said = _sectors_of(Path(str(receipt[0])))
    changed = said is None or any(held.get(address) != digest for address, digest in said.items())
    # A board on a cable may be another one now, or programmed by another tool: it is looked at every time.
    if changed or env["N6_PROBE"] != VIRTUAL or "flash-all" in COMMAND_LINE_TARGETS:
        env.AlwaysBuild(receipt)


def say_flashed(env: Any, programmer: Programmer, plan: FlashPlan) -> None:
    board = env["N6_BOARD"]
    size = kib(bytes_of(plan.lacking))
    what = f"{len(plan.lacking)} of {counted(len(plan.wanted))} programmed and verified ({size})"
    say("Flashed", f"{board.name} ({programmer.name})", what if plan.lacking else "holds all of it already")
    if plan.lacking and env["N6_PROBE"] != VIRTUAL and env["N6_START"] != "ram":
        say("To run", f"boot selectors: {board.programmer.flash_boot}", "then switch the power off and on")


def write_receipt(path: Path, board: str, probe: str, plan: FlashPlan) -> None:
    """sectors: what the board holds of what was asked for. programmed: those of them that it lacked."""
    sectors = {f"0x{sector.address:08X}": sector.sha256 for sector in plan.wanted}
    programmed = [f"0x{sector.address:08X}" for sector in plan.lacking]
    write_atomically(path, to_json({"board": board, "probe": probe, "programmed": programmed, "sectors": sectors}))


def _sectors_of(receipt: Path) -> dict[int, str] | None:
    """None where there is no receipt."""
    try:
        return {int(address, 16): str(digest) for address, digest in json.loads(receipt.read_text())["sectors"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
