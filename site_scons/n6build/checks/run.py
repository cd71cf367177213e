"""The list of all checks, and what came of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from n6build.base.errors import N6Error, did_you_mean
from n6build.base.files import read_bytes, to_json
from n6build.checks import flash, memory, numbers, tools
from n6build.checks.subject import Finding, Subject

Severity = Literal["error", "warning"]
State = Literal["passed", "failed", "waived"]


@dataclass(frozen=True)
class Check:
    id: str
    title: str
    severity: Severity
    find: Callable[[Subject], Iterable[Finding]]


@dataclass(frozen=True)
class Result:
    """reason: why its findings are accepted, where they are waived."""

    id: str
    title: str
    severity: Severity
    state: State
    findings: tuple[Finding, ...]
    reason: str = ""


CHECKS = (
    Check("N6-CHECK-001", "every pool holds what is put into it", "error", memory.pool_overflow),
    Check(
        "N6-CHECK-002", "weights and activations lie in memories of the board", "error", memory.memory_the_board_lacks
    ),
    Check("N6-CHECK-003", "activations stay inside the chip", "warning", memory.spilled_activations),
    Check("N6-CHECK-004", "weights in RAM are copied there at boot", "error", memory.missing_copy),
    Check("N6-CHECK-005", "pools keep off the RAM of the Appli", "error", memory.linker_regions),
    Check("N6-CHECK-006", "pools keep off framebuffer, heap and other regions", "error", memory.external_regions),
    Check("N6-CHECK-007", "no two images share flash", "error", flash.overlapping_images),
    Check("N6-CHECK-008", "images end before the flash does", "error", flash.flash_end),
    Check("N6-CHECK-009", "FSBL, Appli and weights fit into their slots", "error", flash.slot_overflow),
    Check("N6-CHECK-010", "all pools are in the alias of the firmware", "error", memory.mixed_aliases),
    Check("N6-CHECK-011", "scales of inputs and outputs are sane", "error", numbers.absurd_io_scale),
    Check("N6-CHECK-012", "scales inside the network are sane", "warning", numbers.absurd_inner_scale),
    Check("N6-CHECK-013", "zero points are values of their type", "error", numbers.zero_point_out_of_type),
    Check("N6-CHECK-014", "inputs and outputs have the declared types", "error", numbers.declared_type),
    Check("N6-CHECK-015", "float copies of the outputs fit into the heap", "warning", memory.float_copies),
    Check("N6-CHECK-016", "what the NPU gets is quantised", "error", tools.float_model),
    Check("N6-CHECK-017", "the compiler has kept the quantisation", "error", numbers.dropped_quantisation),
    Check("N6-CHECK-018", "network and runtime are of one ll_aton version", "error", tools.version_gate),
    Check("N6-CHECK-019", "paths are ASCII where the compiler needs it", "error", tools.non_ascii_path),
    Check("N6-CHECK-020", "the compiler reads this version of ONNX", "error", tools.onnx_ir_version),
    Check("N6-CHECK-021", "the external RAM is mapped before it is used", "error", memory.unmapped_external_ram),
    Check("N6-CHECK-022", "no network overwrites the weights of another", "error", memory.weights_overwritten),
    Check("N6-CHECK-023", "the network was compiled for the board's pools", "error", memory.not_the_boards_pools),
    Check("N6-CHECK-024", "the runtime can run every epoch", "error", tools.epochs_without_a_runtime),
    Check("N6-CHECK-025", "relocatable models fit into the executable RAM", "error", memory.executable_ram),
)


def run_checks(subject: Subject) -> list[Result]:
    """Findings of a model are accepted where its model.yaml waives the check. Raises N6-CHECK-100 for an id that is none."""
    known = {check.id for check in CHECKS}
    for network in subject.networks:
        for id in network.model.waived:
            if id not in known:
                where = f"{network.model.name}: checks.waive"
                raise N6Error("N6-CHECK-100", f"no check '{id}'", where=where, hint=did_you_mean(id, known))
    return [_result(check, subject) for check in CHECKS]


def _result(check: Check, subject: Subject) -> Result:
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


def checks_json(results: Sequence[Result]) -> str:
    return to_json([asdict(result) for result in results])


def described(results: Sequence[Result]) -> Iterator[tuple[str, str]]:
    """(verb, text) of each line: what was found, in full; what was not, as a number."""
    for result in results:
        for finding in result.findings:
            word = result.state if result.state == "waived" else result.severity
            yield word.capitalize(), f"{finding.where}: {finding.what}, {result.id}"
            yield "", f"  waived: {result.reason}" if result.state == "waived" else f"  hint: {finding.hint}"
    passed = sum(result.state == "passed" for result in results)
    waived = sum(result.state == "waived" for result in results)
    yield "Checks", f"{passed} of {len(results)} passed" + (f", {waived} waived" if waived else "")


def read_results(path: Path) -> list[Result]:
    """Raises N6-CHECK-101 where the file is not what `checks_json` writes."""
    try:
        return [
            Result(**{**each, "findings": tuple(Finding(**finding) for finding in each["findings"])})
            for each in json.loads(read_bytes(path))
        ]
    except (ValueError, TypeError, KeyError) as error:
        raise N6Error("N6-CHECK-101", f"holds no results of checks: {error}", where=path.name) from error


def raise_if_failed(results: Sequence[Result]) -> None:
    """Raises the first failed check of severity error as an N6Error of its id."""
    failed = [result for result in results if result.state == "failed" and result.severity == "error"]
    if failed:
        finding = failed[0].findings[0]
        more = sum(len(result.findings) for result in failed) - 1
        what = finding.what + (f" (and {more} more)" if more else "")
        hint = f"{finding.hint}; or accept it: checks.waive.{failed[0].id} in model.yaml, with a reason"
        raise N6Error(failed[0].id, what, where=finding.where, hint=hint)
