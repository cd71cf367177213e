"""Estimates of cycles from a count of instructions, within the table's limits."""

from __future__ import annotations

from pathlib import Path

import pytest
from n6build.base.errors import N6Error
from n6build.board.run.instructions import INSTRUCTIONS, Cycles, Meaning, meaning_lines, read_meanings


def test_every_factor_has_a_source_and_every_kind_an_explanation() -> None:
    meanings = read_meanings(INSTRUCTIONS)
    assert {"scalar", "helium", "nor", "polling", "npu"} <= set(meanings)
    for name, meaning in meanings.items():
        assert meaning.says.endswith("."), name
        assert (meaning.cycles is None) or (meaning.grade in ("measured", "elsewhere", "model")), name
        assert (meaning.cycles is None) or (0 < meaning.cycles.low <= meaning.cycles.high), name


def test_what_is_not_known_is_said_not_to_be() -> None:
    meanings = {
        "scalar": Meaning("scalar code", "model", "", Cycles(1.0, 2.5)),
        "sleep": Meaning("sleep", "exact", ""),
        "npu": Meaning("the NPU", "unknown", ""),
        "nor": Meaning("the NOR", "unknown", ""),
    }
    assert meaning_lines(meanings)[0] == "  Cycles an instruction: scalar 1 to 2.5 (model); not known: npu, nor."
    assert meaning_lines({}) == []


def test_a_grade_that_nobody_knows_is_refused_at_its_line(tmp_path: Path) -> None:
    path = tmp_path / "instructions.yaml"
    path.write_text("kinds:\n  scalar:\n    code: scalar code\n    grade: guessed\n    says: 7.\n")
    with pytest.raises(N6Error, match=r"instructions.yaml:4: kinds.scalar.grade: error N6-YAML-004"):
        read_meanings(path)
