"""Cycles of the chip for an instruction of the virtual board, by kind of code.

The values come from a YAML table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from n6build.base.paths import BOARDS, project_path
from n6build.base.yaml_schema import read_document

# One file for the family: all chips have the same processor and memories.
INSTRUCTIONS = BOARDS / "soc" / "stm32n6-instructions.yaml"


@dataclass(frozen=True)
class Cycles:
    """Cycles of one instruction.

    Attributes:
        low: The fewest.
        high: The most.
    """

    low: float
    high: float


@dataclass(frozen=True)
class Meaning:
    """Cycles of one kind of code.

    Attributes:
        code: The kind of code.
        grade: Source of the cycles; the YAML file explains the grades.
        says: Further facts.
        cycles: None if a count of instructions cannot be converted to cycles.
    """

    code: str
    grade: Literal["measured", "elsewhere", "model", "exact", "unknown"]
    says: str
    cycles: Cycles | None = None


@dataclass(frozen=True)
class _Table:
    kinds: dict[str, Meaning]


def read_meanings(path: Path) -> dict[str, Meaning]:
    """Read the table of instructions.

    Args:
        path: The file, normally INSTRUCTIONS.

    Raises:
        N6Error: N6-YAML-00x.
    """
    return read_document(path).load(_Table).kinds


def meaning_lines(meanings: Mapping[str, Meaning]) -> list[str]:
    """Return the meanings as lines for the terminal.

    The list is empty without meanings, as for a board that counts cycles.
    """
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
        f"  Meanings: {project_path(INSTRUCTIONS)}",
    ]
