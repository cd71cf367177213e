"""The list of all checks, and their results."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from n6build.base.bounded import decode_json
from n6build.base.errors import N6Error, did_you_mean
from n6build.base.files import read_bytes
from n6build.base.findings import Finding, refusal
from n6build.base.members import members
from n6build.check.check import Check, Severity
from n6build.check.subject import Subject

State = Literal["passed", "failed", "waived", "not applicable"]


@dataclass(frozen=True)
class Result:
    """The result of a check.

    Attributes:
        id: Id of the check.
        title: Statement that is true if the check passes.
        severity: Whether a finding ends the build.
        state: State of the check.
        findings: Faults, waived ones too.
        reason: Reason why its findings are waived.
    """

    id: str
    title: str
    severity: Severity
    state: State
    findings: tuple[Finding, ...]
    reason: str = ""


def _all_checks() -> tuple[Check, ...]:
    """Return the checks of all modules in rules/, by id.

    Raises:
        TypeError: Two checks have the same id.
    """
    found = {
        id(value): value
        for names in members("n6build.check.rules.*", "__dict__", dict)
        for value in names.values()
        if isinstance(value, Check)
    }
    checks = sorted(found.values(), key=lambda each: each.id)
    for one, other in itertools.pairwise(checks):
        if one.id == other.id:
            raise TypeError(f"two checks are called {one.id}")
    return tuple(checks)


CHECKS = _all_checks()


def run_checks(subject: Subject) -> list[Result]:
    """Run all checks.

    Findings of a model are accepted if its model.yaml waives the check.

    Raises:
        N6Error: N6-CHECK-100 for an unknown id in a model.yaml.
    """
    known = {check.id for check in CHECKS}
    for network in subject.networks:
        for id in network.model.waived:
            if id not in known:
                where = f"{network.model.name}: checks.waive"
                raise N6Error("N6-CHECK-100", f"no check '{id}'", where=where, hint=did_you_mean(id, known))
    return [_result(check, subject) for check in CHECKS]


def _result(check: Check, subject: Subject) -> Result:
    if not check.looks_at(subject):
        return Result(check.id, check.title, check.severity, "not applicable", ())
    findings = tuple(check.find(subject))
    if not findings:
        return Result(check.id, check.title, check.severity, "passed", ())
    reasons = [network.model.waived.get(check.id) for network in subject.networks]
    concerned = [
        reason
        for network, reason in zip(subject.networks, reasons, strict=True)
        if len(reasons) == 1 or any(finding.where.startswith(f"{network.model.name}: ") for finding in findings)
    ]
    if concerned and all(concerned):
        reason = "; ".join(dict.fromkeys(filter(None, concerned)))
        return Result(check.id, check.title, check.severity, "waived", findings, reason)
    return Result(check.id, check.title, check.severity, "failed", findings)


def described(results: Sequence[Result]) -> Iterator[tuple[str, str]]:
    """Yield (verb, text) of each line: findings in full, other results as counts."""
    for result in results:
        for finding in result.findings:
            word = result.state if result.state == "waived" else result.severity
            yield word.capitalize(), f"{finding.where}: {finding.what}, {result.id}"
            yield "", f"  waived: {result.reason}" if result.state == "waived" else f"  hint: {finding.hint}"
    yield "Checks", summary(results)


def counts(results: Sequence[Result]) -> dict[str, int]:
    """Return the number of checks by result; a failed warning does not end a build."""
    number = dict.fromkeys(("passed", "failed", "warned", "waived", "not applicable"), 0)
    for result in results:
        warned = result.state == "failed" and result.severity == "warning"
        number["warned" if warned else result.state] += 1
    return number


def summary(results: Sequence[Result]) -> str:
    """Return the counts in words."""
    words = {"not applicable": "had nothing to check"}
    parts = [(what, number) for what, number in counts(results).items() if number or what == "passed"]
    return ", ".join(f"{number} {words.get(what, what)}" for what, number in parts)


def read_results(path: Path) -> list[Result]:
    """Read checks.json.

    Raises:
        N6Error: N6-CHECK-101 if the file is not a list of results.
    """
    try:
        return decode_json(read_bytes(path), list[Result])
    except ValueError as error:
        raise N6Error("N6-CHECK-101", f"contains no results of checks: {error}", where=path.name) from error


def raise_if_failed(results: Sequence[Result]) -> None:
    """Raise the first failed check of severity error as an N6Error with its id."""
    failed = [result for result in results if result.state == "failed" and result.severity == "error"]
    if failed:
        others = sum(len(result.findings) for result in failed) - 1
        raise refusal(failed[0].id, failed[0].findings[0], others)
