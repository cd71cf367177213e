"""A problem of a build as a value: found in one place, judged in another."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from n6build.base.errors import N6Error


@dataclass(frozen=True)
class Finding:
    """what: one sentence with its numbers. where: network, pool, buffer or file. hint: what to do."""

    where: str
    what: str
    hint: str


def refusal(id: str, finding: Finding, others: int = 0) -> N6Error:
    """The error for a finding that ends a build. id: of the check, by which model.yaml may waive it. others: number of
    findings that are not shown."""
    what = finding.what + (f" (and {others} more)" if others else "")
    hint = f"{finding.hint}; or accept it: checks.waive.{id} in model.yaml, with a reason"
    return N6Error(id, what, where=finding.where, hint=hint)


def refuse(id: str, finding: Finding | None, waived: Container[str]) -> None:
    """Raises, under the id of a check, what that check would find, unless it is waived: for what would otherwise show later,
    or as a message of a compiler."""
    if finding is not None and id not in waived:
        raise refusal(id, finding)
