"""Checks of a network: types, quantisation, saturation, decoders, tools."""

from __future__ import annotations

import math
from collections.abc import Iterator

from n6build.base.console import printable
from n6build.base.errors import N6Error
from n6build.base.findings import Finding
from n6build.base.size_text import counted
from n6build.check.check import check
from n6build.check.subject import NetworkSubject, Subject
from n6build.compile.artifacts.description import Quantised
from n6build.compile.model_facts import FLOAT_MODEL, IR_VERSION, KEPT_QUANTISATION, float_model, unread_ir_version
from n6build.compile.runtimes import VERSION_GATE, version_mismatch
from n6build.judge.npu.saturation import CutChannel
from n6build.judge.postprocess.layout import ID, layout_of


def _decoded(subject: Subject) -> list[NetworkSubject]:
    return [network for network in subject.networks if network.model.postprocess]


@check(ID, "outputs fit the decoder in model.yaml", "error", _decoded)
def decoder(subject: Subject) -> Iterator[Finding]:
    """Report outputs with another number or other shapes than those of the decoder."""
    for network in _decoded(subject):
        artifacts, settings = network.artifacts, network.model.postprocess
        try:
            if settings:
                layout_of(settings, artifacts.inputs, artifacts.outputs, network.model.classes)
        except N6Error as error:
            yield Finding(f"{network.model.name}: postprocess", error.what, error.hint or "")


# Findings for each network; the others are counted.
_SHOWN = 8


def _for_npu(subject: Subject) -> list[NetworkSubject]:
    return [network for network in subject.networks if network.reach and network.reach.layers]


@check("N6-CHECK-041", "the NPU's formats hold the values of each channel", "warning", _for_npu)
def saturating_channels(subject: Subject) -> Iterator[Finding]:
    """Report channels whose output ends early, since a product of 16 bits saturates.

    Only channels are reported whose weights let the product get there.
    """
    for network in _for_npu(subject):
        cut = network.reach.cut if network.reach else ()
        layers = {epoch.index: epoch.name for epoch in network.artifacts.epochs}
        for place, each in enumerate(cut[:_SHOWN], 1):
            where = f"{network.model.name}: epoch {each.epoch} {printable(layers.get(each.epoch, ''))}".rstrip()
            more = len(cut) - place if place == _SHOWN else 0
            yield Finding(where, _what(each) + (f" (and {counted(more, 'more channel')})" if more else ""), _HINT)


_HINT = (
    "run it with epochs=1, which counts the lost values; to avoid them, calibrate with representative data, so that the "
    "layer's output gets a larger scale, or clip or equalise the weights and biases of this channel"
)


def _what(cut: CutChannel) -> str:
    return (
        f"channel {cut.channel} may need {cut.needs:,} in {cut.unit}, whose format of {cut.bits} bits ends at "
        f"{cut.limit:,}: its output then ends at {cut.ends_at}, not at {cut.wanted}"
    )


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


# The steps of real networks are between these bounds. A failed conversion produced 2956686.0.
SMALLEST_SCALE = 1e-9
LARGEST_SCALE = 1e3
_RANGES = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767), "uint16": (0, 65535)}
_NARROW = ("int8", "uint8", "int16", "uint16", "STAI_FORMAT_Q")


def _absurd(buffer: Quantised) -> float | None:
    for scale in buffer.scales:
        if not math.isfinite(scale) or not SMALLEST_SCALE <= scale <= LARGEST_SCALE:
            return scale
    return None


Buffers = list[tuple[NetworkSubject, Quantised]]


def _quantised(subject: Subject) -> Buffers:
    return [(network, buffer) for network in subject.networks for buffer in network.artifacts.quantised]


def _ports(subject: Subject) -> Buffers:
    """Return inputs and outputs with a narrow type."""
    return [(network, buffer) for network, buffer in _quantised(subject) if buffer.is_io and buffer.type in _NARROW]


def _inner(subject: Subject) -> Buffers:
    return [(network, buffer) for network, buffer in _quantised(subject) if not buffer.is_io and buffer.type in _NARROW]


def _declared(subject: Subject) -> list[str]:
    networks = [each.model for each in subject.networks]
    return [kind for each in networks for kind in (each.input_type, each.output_type) if kind]


def _quantised_models(subject: Subject) -> list[NetworkSubject]:
    return [network for network in subject.networks if network.facts and network.facts.quantised_operators]


def _scales(buffers: Buffers) -> Iterator[Finding]:
    for network, buffer in buffers:
        scale = _absurd(buffer)
        if scale is not None:
            yield Finding(
                f"{network.model.name}: {buffer.name}",
                f"has the quantisation scale {scale:g}; plausible scales are {SMALLEST_SCALE:g} to {LARGEST_SCALE:g}",
                "quantise the model again with representative data, and compare it with the float model",
            )


@check("N6-CHECK-011", "scales of inputs and outputs are sane", "error", _ports)
def absurd_io_scale(subject: Subject) -> Iterator[Finding]:
    """Report inputs and outputs with an impossible quantisation scale.

    The scale is not finite, or outside SMALLEST_SCALE..LARGEST_SCALE.
    """
    yield from _scales(_ports(subject))


@check("N6-CHECK-012", "scales inside the network are sane", "warning", _inner)
def absurd_inner_scale(subject: Subject) -> Iterator[Finding]:
    """Report tensors inside the network with an impossible quantisation scale.

    The scale is not finite, or outside SMALLEST_SCALE..LARGEST_SCALE.
    """
    yield from _scales(_inner(subject))


@check("N6-CHECK-013", "zero points are values of their type", "error", _quantised)
def zero_point_out_of_type(subject: Subject) -> Iterator[Finding]:
    """Report zero points outside the range of their integer type."""
    for network, buffer in _quantised(subject):
        low, high = _RANGES.get(buffer.type, (-math.inf, math.inf))
        for zero_point in sorted({*buffer.zero_points}):
            if not low <= zero_point <= high:
                yield Finding(
                    f"{network.model.name}: {buffer.name}",
                    f"has the zero point {zero_point}, but {buffer.type} ends at {low if zero_point < low else high}",
                    "quantise the model again",
                )


@check("N6-CHECK-014", "inputs and outputs have the declared types", "error", _declared)
def declared_type(subject: Subject) -> Iterator[Finding]:
    """Report inputs and outputs of another type than model.yaml declares."""
    for network in subject.networks:
        declared = network.model
        for kind, wanted, ports in (
            ("input", declared.input_type, network.artifacts.inputs),
            ("output", declared.output_type, network.artifacts.outputs),
        ):
            for port in ports:
                if wanted is not None and port.type != wanted:
                    yield Finding(
                        f"{network.model.name}: {kind} {port.name}",
                        f"is {port.type}, but model.yaml declares {wanted}",
                        f"declare network.{kind}_type: {port.type} and adapt your code, or let the compiler convert it",
                    )


@check(KEPT_QUANTISATION, "the compiler has kept the quantisation", "error", _quantised_models)
def dropped_quantisation(subject: Subject) -> Iterator[Finding]:
    """Report a quantised model whose compiled network has no quantised buffer."""
    for network in _quantised_models(subject):
        if network.facts and _is_float(network):
            yield Finding(
                network.model.name,
                f"the model has {network.facts.quantised_operators} quantised operators, but the compiled network "
                f"has no quantised buffer: the compiler dropped the quantisation",
                "look for 'Ignore Quantization JSON file' in the compiler's log",
            )


def _is_float(network: NetworkSubject) -> bool:
    return not any(buffer.type in _NARROW for buffer in network.artifacts.quantised)
