"""What the virtual board's instructions say of the chip's cycles: a table in YAML, by kind of code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from n6build.base.paths import BOARDS, project_path
from n6build.base.yaml_schema import read_document

# Of the family: all chips have the same processor and memories.
INSTRUCTIONS = BOARDS / "soc" / "stm32n6-instructions.yaml"


@dataclass(frozen=True)
class Cycles:
    """Of one instruction. low, high: the fewest and the most."""

    low: float
    high: float


@dataclass(frozen=True)
class Meaning:
    """code: what kind it is. cycles: None where a count cannot be multiplied by anything. grade: where that comes from, see the
    file. says: what is known besides."""

    code: str
    grade: Literal["measured", "elsewhere", "model", "exact", "unknown"]
    says: str
    cycles: Cycles | None = None


@dataclass(frozen=True)
class _Table:
    kinds: dict[str, Meaning]


def read_meanings(path: Path) -> dict[str, Meaning]:
    """path: of INSTRUCTIONS. Raises N6-YAML-00x."""
    return read_document(path).load(_Table).kinds


def meaning_lines(meanings: Mapping[str, Meaning]) -> list[str]:
    """For the terminal; none where there are no meanings, as on a board that counts cycles."""
    if not meanings:
        return []
    known = [
        f"{name} {each.cycles.low:g} to {each.cycles.high:g} ({each.grade})"
        for name, each in meanings.items()
        if each.cycles
    ]
    unknown = [name for name, each in meanings.items() if each.grade == "unknown"]
    return [
        f"  Cycles an instruction: {', '.join(known)}; not known: {', '.join(unknown)}.",
        f"  What each means: {project_path(INSTRUCTIONS)}",
    ]
