"""A check: a function that looks at a subject, and what it is called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from n6build.base.findings import Finding
from n6build.checks.subject import Subject

Severity = Literal["error", "warning"]
Find = Callable[[Subject], Iterable[Finding]]
LooksAt = Callable[[Subject], Sequence[object]]


@dataclass(frozen=True)
class Check:
    """title: what holds where it passes. looks_at: what there is to look at; a subject with none of it neither passes nor
    fails. find: must not raise, whatever the subject."""

    id: str
    title: str
    severity: Severity
    looks_at: LooksAt
    find: Find


def check(id: str, title: str, severity: Severity, looks_at: LooksAt) -> Callable[[Find], Check]:
    """Makes a check of the function below it. id: 'N6-CHECK-<nnn>', which is never given to another check."""

    def made(find: Find) -> Check:
        return Check(id, title, severity, looks_at, find)

    return made
