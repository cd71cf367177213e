"""The record of a board's results for the rungs of target ladder.

That target writes the record, and the grading of epochs reads it. The file is untrusted: it may
come from a third party's board.
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
# 'near' is for the whole network only: not equal, but within the known deviation of the NPU.
Result = Literal["equal", "near", "differs", "stopped", "not reached"]
_MOST_BYTES = 1 << 20
MOST_BYTES_OF_FIGURES = 4 << 20


@dataclass(frozen=True)
class RungEpoch:
    """An epoch of the NPU in a rung.

    Records of earlier versions have neither form, node nor result.

    Attributes:
        kind: work of the epoch.
        grade: comparison of the epoch with those seen of ST's compiler.
        form: digest, as `form_of` returns it.
        node: node of the network that the epoch is a part of.
        result: result of the rung, or of this epoch if outputs show it; 'stopped' if its blob may
            be the cause.
    """

    kind: Text
    grade: Text
    form: Text = ""
    node: Text = ""
    result: Result | None = None


@dataclass(frozen=True)
class RungResult:
    """The result of a rung.

    Attributes:
        name: name of the rung.
        epochs: epochs of the network on the NPU.
        vectors: number of vectors that were run.
        different_bytes: different bytes in all outputs of the vectors.
        cycles: cycles of the first vector.
    """

    name: Text
    result: Result
    epochs: tuple[RungEpoch, ...] = ()
    vectors: int = 0
    different_bytes: int = 0
    cycles: int | None = None


@dataclass(frozen=True)
class Ladder:
    """The results of all rungs.

    Attributes:
        probe: hash of the probe's serial number, empty for the virtual board.
        error: id of the error that ended the ladder, or empty.
        what: text of that error.
    """

    n6build: Text
    board: Text
    virtual: bool
    probe: Text
    rungs: tuple[RungResult, ...]
    error: Text = ""
    what: Text = ""


def read_ladder(path: Path) -> Ladder | None:
    """Return the board's ladder record, or None if the file does not exist.

    Raises:
        N6Error: N6-LADDER-002 if the file is not such a record; N6-FILE-002; N6-FILE-003.
    """
    if not is_file(path):
        return None
    try:
        return decode_json(read_at_most(path, _MOST_BYTES), Ladder)
    except ValueError as error:
        raise unreadable(path, f"is not a record of target ladder: {error}") from error


def read_epochs(figures: Path) -> dict[int, RungEpoch]:
    """Return the epochs in the figures of a network, by number.

    Args:
        figures: <network>_npu.json.

    Raises:
        N6Error: N6-LADDER-002 if backend neural_art did not write the file; N6-FILE-002; N6-FILE-003.
    """
    try:
        read: Any = parse_json(read_at_most(figures, MOST_BYTES_OF_FIGURES))
        return {
            int(each["epoch"]): RungEpoch(str(each["kind"]), str(each["grade"]), str(each["form"]), str(each["node"]))
            for each in read["epochs"]
        }
    except WRONG_FIELDS as error:
        raise unreadable(figures, "is not a file of backend neural_art") from error


def unreadable(path: Path, what: str) -> N6Error:
    """Return N6-LADDER-002, for a record or for figures of blobs."""
    return N6Error("N6-LADDER-002", what, where=str(path), hint="remove the file: the next build writes it again")
