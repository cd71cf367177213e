"""Checks of what the tools understand: versions, formats, paths."""

from __future__ import annotations

from collections.abc import Iterator

from n6build.checks.subject import Finding, Subject
from n6build.errors import N6Error
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
        if network.backend == "st_edge_ai" and path is not None and not str(path).isascii():
            letter = next(letter for letter in str(path) if not letter.isascii())
            yield Finding(
                f"{network.model.name}: {path.name}",
                f"the path of the model has the letter '{letter}', on which the compiler crashes",
                "use a path of ASCII letters only",
            )


def onnx_ir_version(subject: Subject) -> Iterator[Finding]:
    for network in subject.networks:
        facts = network.facts
        core = next((version for name, version in network.artifacts.tools if name == "ST.EdgeAI.Core"), "")
        old = core.startswith(("2.0", "2.1", "2.2"))
        if facts and old and facts.ir_version is not None and facts.ir_version > MAX_IR_VERSION:
            yield Finding(
                network.model.name,
                f"the model has ONNX IR version {facts.ir_version}, ST Edge AI Core up to 2.2 reads {MAX_IR_VERSION}",
                "save the model with ir_version 9, or use ST Edge AI Core 3.0 or newer",
            )


# Of the checker inside ST Edge AI Core 2.2 and older.
MAX_IR_VERSION = 9
