"""What the virtual board objects to, and what it does not know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from n6build.base.console import say

_WARNINGS = frozenset({"nor-range"})


@dataclass(frozen=True)
class Finding:
    """kind: a fixed word, such as ram-off. text: a sentence. where: source line of the instruction, or its address."""

    kind: str
    text: str
    where: str

    @property
    def is_warning(self) -> bool:
        """Whether programs that real boards run do the same."""
        return self.kind in _WARNINGS

    def __str__(self) -> str:
        return f"{self.where}: {self.text}"


def show_findings(findings: Sequence[Finding]) -> tuple[str, ...]:
    """Says all of them; -> those that are no warnings, as text."""
    for finding in findings:
        say("Warning" if finding.is_warning else "Finding", str(finding))
    return tuple(str(finding) for finding in findings if not finding.is_warning)


@dataclass(frozen=True)
class Unmodelled:
    """A register that no model answers: it keeps what is written. where: of the first access, a source line, a symbol or an
    address."""

    address: int
    where: str
    reads: int
    writes: int
