"""Add, Sub, Mul, Div, Max, Min and Pow.

The operands are two tensors, or a tensor and a constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from n6build.compile.reference.graph import Quantisation, Tensor
from n6build.compile.reference.onnx.building import Building
from n6build.compile.reference.onnx.functions import is_function, pending_function
from n6build.compile.reference.onnx.node import Node, NodeFamily, Translate
from n6build.compile.reference.onnx.nodes.convolution import held_with
from n6build.compile.reference.onnx.nodes.quantising import as_int8, quantisation_of, quantise, target_of
from n6build.compile.reference.onnx.nodes.unary import element_function
from n6build.compile.reference.onnx.operators.binary import BinaryOptions
from n6build.compile.reference.onnx.operators.float_functions import FunctionOptions
from n6build.compile.reference.onnx.real import (
    can_be_real,
    in_float32,
    pending_real,
    real_operand,
    real_operator,
)
from n6build.compile.reference.onnx.storage import Order, Shape, as_in_the_model, stored_shape
from n6build.compile.reference.onnx.values import Constant, Float32, Held, Pending, Target, Value

_Operation = Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]


def _divided(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Return the quotient; integers, such as sizes, are rounded towards 0."""
    if np.issubdtype(np.result_type(a, b), np.integer):
        return np.asarray(np.trunc(np.divide(a, b)).astype(np.result_type(a, b)))
    return np.asarray(np.divide(a, b))


_OPERATIONS: dict[str, _Operation] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": _divided,
    "Max": np.maximum,
    "Min": np.minimum,
}
_OF_FLOAT32 = {"Add": "ADD", "Sub": "SUB", "Mul": "MUL", "Div": "DIV", "Max": "MAXIMUM", "Min": "MINIMUM"}
_MOST_FOLDED = 1 << 24
_BETWEEN = "quantise its inputs: QuantizeLinear and DequantizeLinear before it"


def _combine(node: Node, building: Building, kind: str, a: Value, b: Value) -> Value:
    operation = _OPERATIONS[kind]
    if isinstance(a, Constant) and isinstance(b, Constant):
        return _folded(node, operation, a, b)
    function = _as_function(building, operation, a, b)
    if function is not None:
        return function
    shape = _broadcast(node, a.shape, b.shape)
    if kind == "Add" and _is_repeated(a.shape, shape):
        # ONNX Runtime adds the operand that is the same for a whole row first.
        a, b = b, a
    operands = [found for value in (a, b) if (found := _in_int8(value))]
    if len(operands) < 2:
        if not all(map(can_be_real, (a, b))):
            raise node.error("N6-NET-004", "an input of it is not quantised", _BETWEEN)
        return _in_float32(node, building, kind, a, b, shape)
    order = _common_order(a, b, shape)
    # ONNX Runtime has integer operators for Add and Mul, which it uses if both inputs are quantised.
    has_integers = kind in ("Add", "Mul") and not any(
        isinstance(each, Constant) and not each.quantisation for each in (a, b)
    )

    def make(target: Target) -> Held:
        inputs = [_operand(node, building, value, position, shape, order) for position, value in enumerate(operands)]
        offsets = (_offset(a), _offset(b), 128 if target.unsigned else 0)
        options = BinaryOptions(target.low, target.high, offsets)
        operator = f"QLinear{kind}" if has_integers and not target.is_limited else kind
        return building.made(operator, inputs, target, shape, order, options)

    return Pending(shape, make)


def _in_int8(value: Value) -> Constant | Held | None:
    """Return an operand for an operator of int8, None if int8 does not hold it."""
    if isinstance(value, Constant):
        quantised = value if value.quantisation else _own_quantisation(value.numbers())
        one_scale = quantised.quantisation is not None and len(quantised.quantisation.scales) == 1
        return quantised if one_scale and quantised.array.dtype == np.int8 else None
    return value if isinstance(value, Held) and value.real else None


def _in_float32(node: Node, building: Building, kind: str, a: Value, b: Value, shape: Shape) -> Pending:
    order = _common_order(a, b, shape)

    def compute(name: str) -> Tensor:
        inputs = [
            real_operand(building, value, f"{node.outputs[0]} operand {position}", shape, order)
            for position, value in enumerate((a, b))
        ]
        return real_operator(building, _OF_FLOAT32[kind], inputs, name, stored_shape(shape, order))

    return pending_real(node, building, shape, order, compute)


def _is_repeated(operand: Shape, shape: Shape) -> bool:
    """Return whether an operand has one element for a whole row of the output."""
    rows = [axis for axis, size in enumerate(reversed(shape), 1) if size > 1]
    return bool(rows) and (rows[0] > len(operand) or operand[-rows[0]] == 1)


def _offset(value: Value) -> int:
    return 128 if isinstance(value, Constant | Held) and value.unsigned else 0


def _folded(node: Node, operation: _Operation, a: Constant, b: Constant) -> Constant:
    if math.prod(_broadcast(node, a.shape, b.shape)) > _MOST_FOLDED:
        raise node.error("N6-NET-007", "makes a constant of too many elements", "export the model again")
    if a.quantisation is None and b.quantisation is None:
        return Constant(operation(a.array, b.array))
    return Constant(operation(a.numbers(), b.numbers()))


def _as_function(building: Building, operation: _Operation, a: Value, b: Value) -> Pending | None:
    """Return the result as a function of one tensor's elements, or None.

    Both operands are functions of the elements of one tensor, or one of them is a single number.
    """
    functions = [value for value in (a, b) if isinstance(value, Held | Pending) and is_function(value)]
    numbers = [value for value in (a, b) if isinstance(value, Constant) and value.array.size == 1]
    if len(functions) == 2:
        first, second = (pending_function(building, value, lambda x: x) for value in functions)
        assert first.source is not None and second.source is not None
        same = first.source == second.source and first.shape == second.shape
        if not same or all(isinstance(value, Held) for value in functions):
            return None
        other = second.function
        assert other is not None
        return pending_function(building, first, lambda x: operation(x, other))
    real_number = len(numbers) == 1 and numbers[0].quantisation is None
    if len(functions) == 1 and real_number and len(numbers[0].shape) <= len(functions[0].shape):
        number = numbers[0].numbers().reshape(-1)[0]
        if functions[0] is a:
            return pending_function(building, functions[0], lambda x: operation(x, number))
        return pending_function(building, functions[0], lambda x: operation(number, x))
    return None


def _broadcast(node: Node, a: Shape, b: Shape) -> Shape:
    try:
        return tuple(int(size) for size in np.broadcast_shapes(a, b))
    except ValueError:
        hint = "export the model again"
        raise node.error("N6-NET-007", f"shapes {list(a)} and {list(b)} do not fit together", hint) from None


def _common_order(a: Value, b: Value, shape: Shape) -> Order:
    """Return the order of the larger tensor in memory."""
    held = [value for value in (a, b) if isinstance(value, Held) and len(value.shape) == len(shape)]
    return max(held, key=lambda value: value.tensor.elements).order if held else as_in_the_model(len(shape))


def _operand(
    node: Node, building: Building, value: Constant | Held, position: int, shape: Shape, order: Order
) -> Tensor:
    """Return an operand with as many dimensions as the output, in its order."""
    sizes = (1,) * (len(shape) - len(value.shape)) + value.shape
    if isinstance(value, Held):
        widened = value if len(value.shape) == len(shape) else building.reshaped(value, sizes)
        return building.ordered(widened, order).tensor
    array = value.array.reshape(sizes).transpose(order)
    assert array.shape == stored_shape(sizes, order)
    return building.constant(f"{node.outputs[0]} operand {position}", array, value.quantisation)


def _own_quantisation(numbers: Float32) -> Constant:
    """Return a constant of real numbers as int8 where int8 holds them exactly.

    Otherwise, return it as it is.
    """
    largest = float(np.abs(numbers).max(initial=0))
    for divisor in range(1, 128):
        scale = np.float32(largest / divisor) if largest else np.float32(1)
        steps = np.rint(numbers / scale)
        if np.array_equal((steps * scale).astype(np.float32), numbers):
            return Constant(steps.astype(np.int8), Quantisation((float(scale),), (0,)))
    return Constant(numbers)


def _real(kind: str) -> Translate:
    """Return the translation of an operator of two inputs without quantisation."""

    def translate(node: Node, building: Building) -> Value:
        if len(node.inputs) != 2:
            raise node.error("N6-NET-008", f"has {len(node.inputs)} inputs", "split it into nodes with two inputs")
        a, b = node.value(0), node.value(1)
        if not all(map(can_be_real, (a, b))):
            raise node.error("N6-NET-004", "an input of it is not quantised", _BETWEEN)
        made = _in_float32(node, building, kind, a, b, _broadcast(node, a.shape, b.shape))
        assert made.make_real is not None
        return made.make_real(node.outputs[0])

    return translate


def _real_pow(node: Node, building: Building) -> Value:
    """Translate a Pow with one constant exponent, in float32.

    ONNX Runtime multiplies for the exponents 2 and 3.
    """
    exponent = float(node.constant(1).numbers().reshape(-1)[0]) if node.constant(1).array.size == 1 else math.nan
    base = in_float32(node, building, 0)
    if exponent in (2, 3):
        name, tensor = node.outputs[0], base.tensor
        square = real_operator(building, "MUL", [tensor, tensor], f"{name} square", tensor.shape)
        made = square if exponent == 2 else real_operator(building, "MUL", [square, tensor], name, tensor.shape)
        return replace(base, tensor=made)
    if math.isnan(exponent):
        raise node.error("N6-NET-008", "has several exponents", "use a power with one constant exponent")
    options = FunctionOptions("SQRT") if exponent == 0.5 else FunctionOptions("POWER", exponent)
    return element_function(node, building, base, options)


def _plain(kind: str) -> Translate:
    return lambda node, building: _combine(node, building, kind, node.value(0), node.value(1))


def _of_two(kind: str) -> Translate:
    """Return the translation of an operator with any number of inputs."""

    def translate(node: Node, building: Building) -> Value:
        if len(node.inputs) > 2:
            raise node.error("N6-NET-008", f"has {len(node.inputs)} inputs", "split it into nodes with two inputs")
        first = node.value(0)
        return first if len(node.inputs) == 1 else _combine(node, building, kind, first, node.value(1))

    return translate


def _pow(node: Node, building: Building) -> Value:
    """Translate a Pow with one constant exponent."""
    base, exponent = node.value(0), node.constant(1)
    if exponent.array.size != 1:
        raise node.error("N6-NET-008", "has several exponents", "use a power with one constant exponent")
    number = float(exponent.array.reshape(-1)[0])
    if isinstance(base, Constant):
        return Constant(_power(base.numbers(), number))
    if not is_function(base):
        raise node.error("N6-NET-004", "an input of it is not quantised", _BETWEEN)
    return pending_function(building, base, lambda x: _power(x, number))


def _power(x: Float32, exponent: float) -> Float32:
    if exponent in (2, 3):
        return x * x if exponent == 2 else x * x * x
    return np.power(x.astype(np.float64), exponent).astype(np.float32)


def _qlinear(kind: str) -> Translate:
    """Return the translation of a QLinearAdd or QLinearMul.

    Inputs: a, its scale and zero point, b with both, scale and zero point of the output.
    """

    def translate(node: Node, building: Building) -> Value:
        a, b = (_given(node, building, position) for position in (0, 3))
        pending = _combine(node, building, kind, a, b)
        return quantise(node, building, pending, target_of(node, 6))

    return translate


def _given(node: Node, building: Building, position: int) -> Value:
    value = node.value(position)
    if isinstance(value, Constant):
        quantisation = replace(quantisation_of(node, position + 1), axis=0)
        return Constant(as_int8(value.array), quantisation, value.array.dtype == np.uint8)
    return held_with(node, building, position)


FAMILY = NodeFamily(
    {kind: _plain(kind) for kind in ("Add", "Sub", "Mul", "Div")}
    | {kind: _of_two(kind) for kind in ("Max", "Min")}
    | {f"QLinear{kind}": _qlinear(kind) for kind in ("Add", "Mul")}
    | {"Pow": _pow},
    {kind: _real(kind) for kind in _OF_FLOAT32} | {"Pow": _real_pow},
)
