"""What backend neural_art has written of the grades of a network's epochs, for a page about a build."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from n6build.base.bounded import WRONG_FIELDS, parse_json
from n6build.base.files import read_at_most
from n6build.own_blobs.board_record import MOST_BYTES_OF_FIGURES, unreadable


@dataclass(frozen=True)
class EpochGrade:
    """what: node and kind. grade: as a word. not_seen: what of it was not seen of ST's compiler as it is. failed: rungs, for
    people, in which a board failed with an epoch of this kind."""

    number: int
    what: str
    grade: str
    not_seen: tuple[str, ...]
    failed: tuple[str, ...]


def read_grades(figures: Path) -> tuple[EpochGrade, ...]:
    """In the order of the epochs. figures: <network>_npu.json. Raises N6-LADDER-002 where the file is not what backend neural_art
    writes, N6-FILE-002 and N6-FILE-003."""
    try:
        read: Any = parse_json(read_at_most(figures, MOST_BYTES_OF_FIGURES))
        return tuple(
            EpochGrade(
                int(each["epoch"]),
                f"{each['node']} {each['kind']}",
                str(each["grade"]),
                tuple(map(str, each["not_seen"])),
                tuple(map(str, each["failed_on_board"])),
            )
            for each in read["epochs"]
        )
    except WRONG_FIELDS as error:
        raise unreadable(figures, "is not what backend neural_art writes") from error


def counted_grades(grades: Sequence[EpochGrade]) -> str:
    """'11 seen, 2 smaller'."""
    return ", ".join(f"{count} {grade}" for grade, count in Counter(each.grade for each in grades).items())
