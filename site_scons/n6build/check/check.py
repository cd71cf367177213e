"""The form of a check: a function with an id, a title and a severity."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from n6build.base.findings import Finding
from n6build.check.subject import Subject

Severity = Literal["error", "warning"]
Find = Callable[[Subject], Iterable[Finding]]
LooksAt = Callable[[Subject], Sequence[object]]


@dataclass(frozen=True)
class Check:
    """A check of a subject.

    Attributes:
        id: Id of the check, 'N6-CHECK-<nnn>'.
        title: Statement that is true if the check passes.
        severity: Whether a finding ends the build.
        looks_at: Return the objects to check; without any, the check neither passes nor fails.
        find: Return the findings; it must not raise, whatever the subject.
    """

    id: str
    title: str
    severity: Severity
    looks_at: LooksAt
    find: Find


def check(id: str, title: str, severity: Severity, looks_at: LooksAt) -> Callable[[Find], Check]:
    """Make a check of the decorated function.

    Args:
        id: 'N6-CHECK-<nnn>', never used again for another check.
        title: Statement that is true if the check passes.
        severity: Whether a finding ends the build.
        looks_at: Return the objects to check.
    """

    def made(find: Find) -> Check:
        return Check(id, title, severity, looks_at, find)

    return made
