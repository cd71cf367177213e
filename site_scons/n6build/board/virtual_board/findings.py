"""Findings of the virtual board, and registers that it does not model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from n6build.base.console import say

# The state after the boot ROM is unknown, parts have reserves, and real boards run programs that do the rest.
_WARNINGS = frozenset({"alias-open", "attribute-off", "nor-pin", "nor-range", "nor-rate", "watchdog-restarts"})


@dataclass(frozen=True)
class Finding:
    """An objection of the virtual board.

    Attributes:
        kind: A fixed word, such as ram-off.
        text: A sentence.
        where: Source line of the instruction, or its address.
    """

    kind: str
    text: str
    where: str

    @property
    def is_warning(self) -> bool:
        """Return true if programs that run on real boards do the same."""
        return self.kind in _WARNINGS

    def __str__(self) -> str:
        return f"{self.where}: {self.text}"


def show_findings(findings: Sequence[Finding]) -> tuple[str, ...]:
    """Print all findings, and return those that are no warnings, as text."""
    for finding in findings:
        say("Warning" if finding.is_warning else "Finding", str(finding))
    return tuple(str(finding) for finding in findings if not finding.is_warning)


@dataclass(frozen=True)
class Unmodelled:
    """A register that no model answers: it keeps every written value.

    Attributes:
        address: Address of the register.
        where: Source line, symbol or address of the first access.
        reads: Number of reads.
        writes: Number of writes.
    """

    address: int
    where: str
    reads: int
    writes: int
