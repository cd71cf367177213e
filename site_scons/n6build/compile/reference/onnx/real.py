"""Numbers in float32, between quantised operators or behind the last one.

ONNX Runtime does so wherever it has no integer operator. Sums, products and quotients round once, so that
they have its bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from n6build.compile.reference.float32 import Unlimited
from n6build.compile.reference.graph import DType, Tensor
from n6build.compile.reference.onnx.building import Building
from n6build.compile.reference.onnx.node import Node
from n6build.compile.reference.onnx.storage import Order, Shape, as_in_the_model, stored_shape
from n6build.compile.reference.onnx.values import Constant, Held, Pending, Target, Value

_QUANTISE = "quantise its inputs: QuantizeLinear and DequantizeLinear before it"


def in_float32(node: Node, building: Building, position: int) -> Held:
    """Return an input of a node as float32 in memory, in any order of its dimensions.

    Raises:
        N6Error: N6-NET-004 if it is neither real numbers nor quantised; N6-NET-007 if it is absent.
    """
    value = node.value(position)
    if isinstance(value, Constant):
        tensor = building.constant(f"{node.outputs[0]} operand {position}", value.numbers())
        return Held(tensor, value.shape, as_in_the_model(len(value.shape)))
    if isinstance(value, Pending) and value.make_real:
        value = value.make_real(f"{node.outputs[0]} operand {position}")
    if not isinstance(value, Held) or not (value.real or value.is_float):
        raise node.error("N6-NET-004", f"its input {position} is not quantised", _QUANTISE)
    made = building.in_float32(value)
    return building.ordered(made, made.order)


def made_in_float32(
    node: Node,
    building: Building,
    kind: str,
    inputs: Sequence[Tensor],
    shape: Shape,
    order: Order,
    options: object = None,
    part: int = 0,
    dtype: DType = "float32",
) -> Held:
    """Add an operator for an output that is not quantised, and return the output.

    Args:
        node: Node that names the output.
        building: Graph that gets the operator.
        kind: Name of an operator of float32.
        inputs: Tensors that it reads.
        shape: Shape of the output in the ONNX graph.
        order: Order of the output's dimensions in memory.
        options: Options that the operator's module expects.
        part: Number of the node's output.
        dtype: Type of the output.
    """
    output = building.tensor(node.outputs[part], dtype, stored_shape(shape, order), order=order)
    return Held(building.operator(kind, inputs, output, options), shape, order)


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
    return building.in_float32(building.ordered(widened, order)).tensor


def real_operator(building: Building, kind: str, inputs: list[Tensor], name: str, shape: Shape) -> Tensor:
    """Add an operator of float32, and return its output.

    Args:
        kind: Name of an operator of float32.
        name: Name of the output.
        shape: Shape of the output in memory.
    """
    return building.operator(kind, inputs, building.tensor(name, "float32", shape), Unlimited())


def pending_real(
    node: Node, building: Building, shape: Shape, order: Order, compute: Callable[[str], Tensor]
) -> Pending:
    """Return numbers that are computed in float32, and quantised behind that.

    They are computed once, however many nodes read them.

    Args:
        node: Node that names them.
        building: Graph that gets the operators.
        shape: Shape in the ONNX graph.
        order: Order of the dimensions in memory.
        compute: Function that adds the operators, under a name, and returns their result.
    """
    found: list[Held] = []

    def make_real(_: str) -> Held:
        if not found:
            found.append(Held(compute(node.outputs[0]), shape, order))
        return found[0]

    def make(target: Target) -> Held:
        return quantised_real(building, make_real(target.name), target)

    return Pending(shape, make, make_real=make_real)


def quantised_real(building: Building, held: Held, target: Target) -> Held:
    """Return float32 in memory, limited and quantised as a target requests."""
    made = building.ordered(held, held.order).tensor
    for kind, limit in (("MAXIMUM", target.low), ("MINIMUM", target.high)):
        if math.isfinite(limit):
            name = f"{target.name} {kind.lower()}"
            constant = building.constant(name, np.full(1, limit, np.float32))
            made = real_operator(building, kind, [made, constant], f"{name} result", made.shape)
    return building.made("QuantizeLinear", [made], target, held.shape, held.order)
