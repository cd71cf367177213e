"""Checks of what the tools understand: versions, formats, paths."""

from __future__ import annotations

from collections.abc import Iterator

from n6build.base.errors import N6Error
from n6build.checks.subject import Finding, Subject
from n6build.network.model_facts import npu_objections
from n6build.network.runtimes import check_epochs, check_version


def version_gate(subject: Subject) -> Iterator[Finding]:
    for network in subject.networks:
        try:
            check_version(network.artifacts.ll_aton, subject.runtime, network.artifacts.source.name)
        except N6Error as error:
            yield Finding(f"{network.model.name}: {error.where}", error.what, error.hint or "")


def epochs_without_a_runtime(subject: Subject) -> Iterator[Finding]:
    for network in subject.networks:
        try:
            check_epochs(network.artifacts, subject.runtime)
        except N6Error as error:
            yield Finding(f"{network.model.name}: {error.where}", error.what, error.hint or "")


def non_ascii_path(subject: Subject) -> Iterator[Finding]:
    for network in subject.networks:
        path = network.model.file
        if network.for_npu and path is not None and not str(path).isascii():
            letter = next(letter for letter in str(path) if not letter.isascii())
            yield Finding(
                f"{network.model.name}: {path.name}",
                f"the path of the model has the letter '{letter}', on which the compiler crashes",
                "use a path of ASCII letters only",
            )


def float_model(subject: Subject) -> Iterator[Finding]:
    yield from _objections(subject, "N6-CHECK-016")


def onnx_ir_version(subject: Subject) -> Iterator[Finding]:
    yield from _objections(subject, "N6-CHECK-020")


def _objections(subject: Subject, id: str) -> Iterator[Finding]:
    """What ST's compiler is asked about before it runs, too."""
    for network in subject.networks:
        if network.facts and network.for_npu:
            core = next((version for name, version in network.artifacts.tools if name == "ST.EdgeAI.Core"), "")
            for objection in npu_objections(network.facts, core):
                if objection.id == id:
                    yield Finding(f"{network.model.name}: the model", objection.what, objection.hint)
