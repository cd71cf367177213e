"""A problem of a build as a value: found in one place, judged in another."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from n6build.base.errors import N6Error


@dataclass(frozen=True)
class Finding:
    """A problem of a build.

    Attributes:
        where: Network, pool, buffer or file.
        what: One sentence with its numbers.
        hint: Remedy.
    """

    where: str
    what: str
    hint: str


def refusal(id: str, finding: Finding, others: int = 0) -> N6Error:
    """Return the error for a finding that ends a build.

    Args:
        id: Id of the check, by which model.yaml may waive it.
        finding: The finding.
        others: Number of findings that are not shown.
    """
    what = finding.what + (f" (and {others} more)" if others else "")
    hint = f"{finding.hint}; or accept it with a reason: checks.waive.{id} in model.yaml"
    return N6Error(id, what, where=finding.where, hint=hint)


def refuse(id: str, finding: Finding | None, waived: Container[str]) -> None:
    """Raise the error of a check early, unless the check is waived.

    It is for problems that would otherwise show later, or as a message of a compiler.

    Args:
        id: Id of the check.
        finding: Problem that the check would find; None without one.
        waived: Ids of waived checks.

    Raises:
        N6Error: `id` for a problem that is not waived.
    """
    if finding is not None and id not in waived:
        raise refusal(id, finding)
