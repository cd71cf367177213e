"""Checks of versions and formats that the tools accept."""

from __future__ import annotations

from collections.abc import Iterator

from n6build.base.findings import Finding
from n6build.check.check import check
from n6build.check.subject import NetworkSubject, Subject
from n6build.compile.model_facts import FLOAT_MODEL, IR_VERSION, float_model, unread_ir_version
from n6build.compile.runtimes import VERSION_GATE, version_mismatch


def _with_a_version(subject: Subject) -> list[NetworkSubject]:
    return [network for network in subject.networks if network.artifacts.ll_aton is not None]


def _compiled_by_st(subject: Subject) -> list[NetworkSubject]:
    return [network for network in subject.networks if network.for_npu and network.facts]


def _onnx_compiled_by_st(subject: Subject) -> list[NetworkSubject]:
    return [network for network in _compiled_by_st(subject) if network.facts and network.facts.ir_version is not None]


@check(VERSION_GATE, "network and runtime have the same ll_aton version", "error", _with_a_version)
def version_gate(subject: Subject) -> Iterator[Finding]:
    """Report a network.c that was made for another ll_aton than the runtime's."""
    for network in _with_a_version(subject):
        where = f"{network.model.name}: {network.artifacts.source.name}"
        if found := version_mismatch(network.artifacts.ll_aton, subject.runtime, where):
            yield found


@check(FLOAT_MODEL, "models for the NPU are quantised", "error", _compiled_by_st)
def float_model_for_the_npu(subject: Subject) -> Iterator[Finding]:
    """Report a model whose operators with weights all compute in float.

    The NPU computes in integers.
    """
    for network in _compiled_by_st(subject):
        if network.facts and (found := float_model(network.facts, f"{network.model.name}: the model")):
            yield found


@check(IR_VERSION, "the compiler supports the model's version of ONNX", "error", _onnx_compiled_by_st)
def onnx_ir_version(subject: Subject) -> Iterator[Finding]:
    """Report an ONNX IR version that this release of ST Edge AI Core does not read."""
    for network in _onnx_compiled_by_st(subject):
        core = next((version for name, version in network.artifacts.tools if name == "ST.EdgeAI.Core"), "")
        where = f"{network.model.name}: the model"
        if network.facts and (found := unread_ir_version(network.facts, core, where)):
            yield found
