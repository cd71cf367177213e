"""What speaks against a build, as a value: found in one place, judged in another."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from n6build.base.errors import N6Error


@dataclass(frozen=True)
class Finding:
    """what: one sentence with its numbers. where: network, pool, buffer or file."""

    where: str
    what: str
    hint: str


def refusal(id: str, finding: Finding, others: int = 0) -> N6Error:
    """The error that a finding becomes where it ends a build. id: of a check, by which model.yaml may waive it. others: findings
    that are not shown."""
    what = finding.what + (f" (and {others} more)" if others else "")
    hint = f"{finding.hint}; or accept it: checks.waive.{id} in model.yaml, with a reason"
    return N6Error(id, what, where=finding.where, hint=hint)


def refuse(id: str, finding: Finding | None, waived: Container[str]) -> None:
    """For what would be found out late, or in the words of a compiler: raises at once what the check of this id would find,
    unless it is waived."""
    if finding is not None and id not in waived:
        raise refusal(id, finding)
