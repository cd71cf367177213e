"""What a flash leaves in the build folder: which sectors of a board it has seen to be right."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from n6build.base.bounded import WRONG_FIELDS, parse_json
from n6build.base.files import to_json, write_atomically
from n6build.base.uses import note, state_of
from n6build.plan.plan import Plan
from n6build.plan.step import Step

# Not in flash.virtual, because importing that takes time, also in a build that has nothing to do.
VIRTUAL = "virtual"
VIRTUAL_RECORD = "record.json"
# Of a receipt; one that is in another is none. Those up to n6build 0.5 do not say theirs.
_FORMAT = 1
_KEYS = {"format", "board", "probe", "programmed", "sectors"}


@dataclass(frozen=True)
class Receipt:
    """sectors: address -> SHA-256 of what the board holds of what was asked for. programmed: those of them that it lacked."""

    board: str
    probe: str
    programmed: tuple[int, ...]
    sectors: dict[int, str]


def write_receipt(path: Path, receipt: Receipt) -> None:
    """As JSON, for `read_receipt`. Raises N6-FILE-001."""
    document = {
        "format": _FORMAT,
        "board": receipt.board,
        "probe": receipt.probe,
        "programmed": [f"0x{address:08X}" for address in receipt.programmed],
        "sectors": {f"0x{address:08X}": digest for address, digest in receipt.sectors.items()},
    }
    write_atomically(path, to_json(document))


def read_receipt(path: Path) -> Receipt | None:
    """None where there is no receipt, or none that can be read."""
    try:
        values: Any = parse_json(path.read_bytes())
        if set(values) != _KEYS or values["format"] != _FORMAT:
            return None
        return Receipt(
            str(values["board"]),
            str(values["probe"]),
            tuple(int(address, 16) for address in values["programmed"]),
            {int(address, 16): str(digest) for address, digest in values["sectors"].items()},
        )
    except (OSError, *WRONG_FIELDS):
        return None


def nor_state(nor: Path) -> str:
    """Of the virtual board's NOR: size and modification time of the file, which a copy of a project keeps; empty where there is
    none."""
    note("existence", nor)
    try:
        size, modified, *_ = state_of(nor)
    except OSError:
        return ""
    return f"{size} {modified}"


def settled(plan: Plan) -> Plan:
    """The plan, in which steps that program a board run again where that board may hold something else by now: a board on a
    cable is looked at every time, since it may be another one, or may have been programmed with another tool."""
    return Plan(tuple(_settled(step) for step in plan.steps), plan.goals)


def _settled(step: Step) -> Step:
    if step.stage != "flash":
        return step
    target = json.loads(step.parameters)
    folder = Path(target["virtual_board"])
    sure = target["probe"] == VIRTUAL and not target["everything"] and not target["dry"]
    holds = sure and still_holds(Path(step.name), folder / VIRTUAL_RECORD, folder / "nor.bin")
    return step if holds else replace(step, always=True)


def still_holds(receipt: Path, record: Path, nor: Path) -> bool:
    """Whether the virtual board is known to hold what the receipt says: nobody else has programmed it since or written to its
    NOR, and no run has cast a doubt on it. Every build asks this: only the two files are read."""
    known = read_receipt(receipt)
    if known is None:
        return False
    try:
        found: Any = parse_json(record.read_bytes())
        if found.get("doubt") or found.get("memory_state") != nor_state(nor):
            return False
        held = found["sectors"]
        return all(held.get(f"0x{address:08X}") == digest for address, digest in known.sectors.items())
    except (OSError, *WRONG_FIELDS):
        return False
