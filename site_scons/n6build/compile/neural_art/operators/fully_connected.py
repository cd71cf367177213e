"""FULLY_CONNECTED: computed as a convolution of 1x1 on one pixel."""

from __future__ import annotations

from n6build.compile.neural_art.layer import (
    UNSIGNED,
    Layer,
    Made,
    NpuOperator,
    StaysOnCpu,
    address,
    known_values,
    require_whole_range,
)
from n6build.compile.neural_art.pointwise import pointwise
from n6build.compile.reference.ranges import activation_of
from n6build.compile.reference.weights import WEIGHTS


def _lower(layer: Layer, made: Made) -> None:
    operands = layer.operands
    _, inputs = operands.required(WEIGHTS).shape
    if operands.source.elements != inputs or operands.source.elements < 1:
        raise StaysOnCpu(f"{operands.source.elements // inputs} rows of inputs: one was seen")
    require_whole_range(operands, activation_of(operands))
    values = known_values(layer, operands.source).reshape(-1, 1, 1, inputs)
    pointwise(layer, made, address(layer, UNSIGNED), values)


NPU_OPERATORS = (NpuOperator("FULLY_CONNECTED", "fully_connected", lambda _: UNSIGNED, _lower),)
