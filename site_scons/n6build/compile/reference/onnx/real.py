"""Numbers in float32, between quantised operators or behind the last one.

ONNX Runtime does so wherever it has no integer operator. Sums, products and quotients round once, so that
they have its bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from n6build.compile.reference.graph import Tensor
from n6build.compile.reference.onnx.building import Building
from n6build.compile.reference.onnx.storage import Order, Shape
from n6build.compile.reference.onnx.values import Constant, Held, Pending, Target, Value


def can_be_real(value: Value) -> bool:
    """Return whether a value can be in memory as float32."""
    if isinstance(value, Held):
        return value.real or value.is_float
    return isinstance(value, Constant) or value.make_real is not None


def real_operand(building: Building, value: Value, name: str, shape: Shape, order: Order) -> Tensor:
    """Return a value as float32 in memory.

    Args:
        building: Graph that gets the operators.
        value: A value that can be real.
        name: Name of the new tensors.
        shape: Shape whose rank it gets, with sizes of 1 in front.
        order: Order of its dimensions in memory.
    """
    sizes = (1,) * (len(shape) - len(value.shape)) + value.shape
    if isinstance(value, Constant):
        return building.constant(name, value.numbers().reshape(sizes).transpose(order))
    if isinstance(value, Pending):
        assert value.make_real is not None
        value = value.make_real(name)
    widened = value if len(value.shape) == len(shape) else building.reshaped(value, sizes)
    tensor = building.ordered(widened, order).tensor
    return real_operator(building, "DEQUANTIZE", [tensor], name, tensor.shape) if value.real else tensor


def real_operator(building: Building, kind: str, inputs: list[Tensor], name: str, shape: Shape) -> Tensor:
    """Add an operator of float32, and return its output.

    Args:
        kind: Name of an operator of float32.
        name: Name of the output.
        shape: Shape of the output in memory.
    """
    return building.operator(kind, inputs, building.tensor(name, "float32", shape))


def pending_real(building: Building, shape: Shape, order: Order, compute: Callable[[str], Tensor]) -> Pending:
    """Return numbers that are computed in float32, and quantised behind that.

    Args:
        building: Graph that gets the operators.
        shape: Shape in the ONNX graph.
        order: Order of the dimensions in memory.
        compute: Function that adds the operators, under a name, and returns their result.
    """

    def make_real(name: str) -> Held:
        return Held(compute(name), shape, order)

    def make(target: Target) -> Held:
        name = f"{target.name} in float32"
        made = compute(name)
        for kind, limit in (("MAXIMUM", target.low), ("MINIMUM", target.high)):
            if math.isfinite(limit):
                constant = building.constant(f"{name} {kind.lower()}", np.full(1, limit, np.float32))
                made = real_operator(building, kind, [made, constant], name, made.shape)
        return building.made("QuantizeLinear", [made], target, shape, order)

    return Pending(shape, make, make_real=make_real)
