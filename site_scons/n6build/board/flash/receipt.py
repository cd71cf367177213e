"""Receipt of a flash in the build folder: the verified sectors of a board."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from n6build.base.bounded import WRONG_FIELDS, parse_json
from n6build.base.files import to_json, write_atomically
from n6build.base.regular_file import content_of
from n6build.base.uses import note, state_of
from n6build.engine.plan import Plan
from n6build.engine.step import Step

# These are not in flash.virtual, because its import would slow down every build without work.
VIRTUAL = "virtual"
VIRTUAL_RECORD = "record.json"
# Format of a receipt; other formats are ignored. Receipts up to n6build 0.5 have no format.
_FORMAT = 1
_KEYS = {"format", "board", "probe", "programmed", "sectors"}


@dataclass(frozen=True)
class Receipt:
    """Sectors that a flash has verified.

    Attributes:
        board: Name of the board.
        probe: The chosen probe.
        programmed: Addresses of the sectors that the board lacked.
        sectors: Address -> SHA-256 of each requested sector on the board.
    """

    board: str
    probe: str
    programmed: tuple[int, ...]
    sectors: dict[int, str]


def write_receipt(path: Path, receipt: Receipt) -> None:
    """Write a receipt as JSON, for `read_receipt`.

    Raises:
        N6Error: N6-FILE-001.
    """
    document = {
        "format": _FORMAT,
        "board": receipt.board,
        "probe": receipt.probe,
        "programmed": [f"0x{address:08X}" for address in receipt.programmed],
        "sectors": {f"0x{address:08X}": digest for address, digest in receipt.sectors.items()},
    }
    write_atomically(path, to_json(document))


def read_receipt(path: Path) -> Receipt | None:
    """Read a receipt, None if it is missing or unreadable."""
    try:
        values: Any = parse_json(content_of(path))
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
    """Return size and modification time of the virtual board's NOR.

    A copy of a project keeps both. The text is empty without a NOR.
    """
    note("existence", nor)
    try:
        size, modified, *_ = state_of(nor)
    except OSError:
        return ""
    return f"{size} {modified}"


def settled(plan: Plan) -> Plan:
    """Return the plan, with flash steps that always run if a board may have changed.

    A board on a cable is checked every time, since it may be another one, or may have been programmed
    with another tool.
    """
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
    """Return true if the virtual board is known to hold the sectors of the receipt.

    That is so if its NOR has not been written since, and no run has raised a doubt. Every build calls
    this function, so that it reads only the two files.
    """
    known = read_receipt(receipt)
    if known is None:
        return False
    try:
        found: Any = parse_json(content_of(record))
        if found.get("doubt") or found.get("memory_state") != nor_state(nor):
            return False
        held = found["sectors"]
        return all(held.get(f"0x{address:08X}") == digest for address, digest in known.sectors.items())
    except (OSError, *WRONG_FIELDS):
        return False
