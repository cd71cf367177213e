"""What came of each pair of board and model, and what has changed since the last time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from n6build.files import to_json

Built = Literal["built", "cache", "up to date"]


@dataclass(frozen=True)
class PairResult:
    """failure: what stopped it, empty where all is well. seconds: that its own targets took. appli_bytes, activation_bytes: 0
    where it did not get so far. instructions: of the longest inference. equal: outputs that equal the reference, of `outputs`.
    """

    board: str
    model: str
    failure: str
    built: Built
    seconds: float
    appli_bytes: int
    activation_bytes: int
    instructions: int
    equal: int
    outputs: int

    @property
    def passed(self) -> bool:
        return not self.failure


@dataclass(frozen=True)
class Row:
    """change: against the last time, in words."""

    result: PairResult
    change: str


def rows_of(results: Sequence[PairResult], before: Sequence[PairResult]) -> list[Row]:
    known = {(each.board, each.model): each for each in before}
    return [Row(each, _change(each, known.get((each.board, each.model)))) for each in results]


def _change(now: PairResult, before: PairResult | None) -> str:
    if before is None:
        return "new"
    if now.passed != before.passed:
        return "fixed" if now.passed else "broken"
    if not now.passed:
        return "still failing"
    differences = [
        f"{after - earlier:+,} {what}"
        for what, after, earlier in (
            ("B", now.appli_bytes, before.appli_bytes),
            ("B RAM", now.activation_bytes, before.activation_bytes),
            ("instructions", now.instructions, before.instructions),
        )
        if after != earlier
    ]
    return ", ".join(differences) or "the same"


def results_json(results: Sequence[PairResult]) -> str:
    return to_json([asdict(result) for result in results])


def read_results(path: Path) -> list[PairResult]:
    """Of the last time; none where there was none, or it cannot be read."""
    try:
        return [PairResult(**values) for values in json.loads(path.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError):
        return []
