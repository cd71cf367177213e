"""Grades of a network's epochs, read from the files of backend neural_art.

Pages about a build show them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from n6build.base.bounded import WRONG_FIELDS, parse_json
from n6build.base.files import read_at_most
from n6build.judge.own_blobs.board_record import MOST_BYTES_OF_FIGURES, unreadable


@dataclass(frozen=True)
class EpochGrade:
    """The grade of an epoch.

    Attributes:
        what: node and kind.
        grade: grade as a word.
        not_seen: features that were not seen of ST's compiler as they are.
        failed: texts of the rungs in which a board failed with an epoch of this kind.
    """

    number: int
    what: str
    grade: str
    not_seen: tuple[str, ...]
    failed: tuple[str, ...]


def read_grades(figures: Path) -> tuple[EpochGrade, ...]:
    """Return the grades of the epochs, in their order.

    Args:
        figures: <network>_npu.json.

    Raises:
        N6Error: N6-LADDER-002 if backend neural_art did not write the file; N6-FILE-002; N6-FILE-003.
    """
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
        raise unreadable(figures, "is not a file of backend neural_art") from error


def counted_grades(grades: Sequence[EpochGrade]) -> str:
    """Return a text such as '11 seen, 2 smaller'."""
    return ", ".join(f"{count} {grade}" for grade, count in Counter(each.grade for each in grades).items())
