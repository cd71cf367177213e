"""Checks of types and quantisation: what a network says of its numbers, against the model and the application."""

from __future__ import annotations

import math
from collections.abc import Iterator

from n6build.checks.subject import Finding, NetworkSubject, Subject
from n6build.network.artifacts.description import Quantised

# Steps of real networks lie between these; 2956686.0 was seen where a conversion had gone wrong.
SMALLEST_SCALE = 1e-9
LARGEST_SCALE = 1e3
_RANGES = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767), "uint16": (0, 65535)}
_NARROW = ("int8", "uint8", "int16", "uint16", "STAI_FORMAT_Q")


def _absurd(buffer: Quantised) -> float | None:
    for scale in buffer.scales:
        if not math.isfinite(scale) or not SMALLEST_SCALE <= scale <= LARGEST_SCALE:
            return scale
    return None


def _scales(subject: Subject, *, io: bool) -> Iterator[Finding]:
    for network in subject.networks:
        for buffer in network.artifacts.quantised:
            scale = _absurd(buffer) if buffer.is_io == io and buffer.type in _NARROW else None
            if scale is not None:
                yield Finding(
                    f"{network.model.name}: {buffer.name}",
                    f"has the quantisation scale {scale:g}; real ones lie between {SMALLEST_SCALE:g} and {LARGEST_SCALE:g}",
                    "quantise the model again with representative data, and compare it with the float model",
                )


def absurd_io_scale(subject: Subject) -> Iterator[Finding]:
    yield from _scales(subject, io=True)


def absurd_inner_scale(subject: Subject) -> Iterator[Finding]:
    yield from _scales(subject, io=False)


def zero_point_out_of_type(subject: Subject) -> Iterator[Finding]:
    for network in subject.networks:
        for buffer in network.artifacts.quantised:
            low, high = _RANGES.get(buffer.type, (-math.inf, math.inf))
            for zero_point in sorted({*buffer.zero_points}):
                if not low <= zero_point <= high:
                    yield Finding(
                        f"{network.model.name}: {buffer.name}",
                        f"has the zero point {zero_point}, {buffer.type} ends at {low if zero_point < low else high}",
                        "quantise the model again",
                    )


def declared_type(subject: Subject) -> Iterator[Finding]:
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
                        f"is {port.type}, model.yaml declares {wanted}",
                        f"declare network.{kind}_type: {port.type} and read it so, or have the compiler convert it",
                    )


def dropped_quantisation(subject: Subject) -> Iterator[Finding]:
    for network in subject.networks:
        if network.facts and network.facts.quantised_operators and _is_float(network):
            yield Finding(
                network.model.name,
                f"the model has {network.facts.quantised_operators} quantised operators, the compiled network no quantised "
                "buffer: the compiler has dropped the quantisation",
                "look for 'Ignore Quantization JSON file' in the compiler's log",
            )


def _is_float(network: NetworkSubject) -> bool:
    return not any(buffer.type in _NARROW for buffer in network.artifacts.quantised)
