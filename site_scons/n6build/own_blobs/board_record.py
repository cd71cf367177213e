"""The record of what a board has made of the rungs of target ladder: written by that target, read where epochs are graded.

It comes from outside: somebody else's board may have made it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from n6build.base.bounded import WRONG_FIELDS, decode_json, parse_json
from n6build.base.errors import N6Error
from n6build.base.files import is_file, read_at_most

Text = Annotated[str, Meta(max_length=4096)]
# near: not equal, but as near as the facts say of the NPU; of the whole network alone.
Result = Literal["equal", "near", "differs", "stopped", "not reached"]
_MOST_BYTES = 1 << 20
MOST_BYTES_OF_FIGURES = 4 << 20


@dataclass(frozen=True)
class RungEpoch:
    """kind: what an epoch of the NPU does. grade: how it compares with what was seen of ST's compiler. form: as of `form_of`.
    node: of the network, that it is a part of. result: of the rung, or of this epoch where outputs tell it; stopped: by something
    that its blob may have caused. Records of earlier versions have neither form, node nor result."""

    kind: Text
    grade: Text
    form: Text = ""
    node: Text = ""
    result: Result | None = None


@dataclass(frozen=True)
class RungResult:
    """name: of the rung. epochs: those on the NPU, of a network. vectors: how many were run. different_bytes: of all their
    outputs. cycles: of the first one."""

    name: Text
    result: Result
    epochs: tuple[RungEpoch, ...] = ()
    vectors: int = 0
    different_bytes: int = 0
    cycles: int | None = None


@dataclass(frozen=True)
class Ladder:
    """probe: a hash of its serial number, empty for the virtual board. error: id of what ended it, empty where nothing did. what:
    its text."""

    n6build: Text
    board: Text
    virtual: bool
    probe: Text
    rungs: tuple[RungResult, ...]
    error: Text = ""
    what: Text = ""


def read_ladder(path: Path) -> Ladder | None:
    """None where there is none. Raises N6-LADDER-002 where the file is no such record, N6-FILE-002 and N6-FILE-003."""
    if not is_file(path):
        return None
    try:
        return decode_json(read_at_most(path, _MOST_BYTES), Ladder)
    except ValueError as error:
        raise unreadable(path, f"is not a record of target ladder: {error}") from error


def read_epochs(figures: Path) -> dict[int, RungEpoch]:
    """By the numbers of the epochs. figures: <network>_npu.json. Raises N6-LADDER-002 where the file is not what backend
    neural_art writes, N6-FILE-002 and N6-FILE-003."""
    try:
        read: Any = parse_json(read_at_most(figures, MOST_BYTES_OF_FIGURES))
        return {
            int(each["epoch"]): RungEpoch(str(each["kind"]), str(each["grade"]), str(each["form"]), str(each["node"]))
            for each in read["epochs"]
        }
    except WRONG_FIELDS as error:
        raise unreadable(figures, "is not what backend neural_art writes") from error


def unreadable(path: Path, what: str) -> N6Error:
    """N6-LADDER-002, of a record or of figures of blobs."""
    return N6Error("N6-LADDER-002", what, where=str(path), hint="remove it, so that it is made again")
