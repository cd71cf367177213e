"""Gemm and MatMul: rows of a quantised activation times a matrix.

The matrix is a constant or another activation.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from n6build.compile.reference.graph import Tensor
from n6build.compile.reference.onnx.building import Building
from n6build.compile.reference.onnx.limits import LimitOptions
from n6build.compile.reference.onnx.node import Node, NodeFamily
from n6build.compile.reference.onnx.nodes.convolution import bias_steps, held_with, weights_of
from n6build.compile.reference.onnx.nodes.quantising import as_int8, quantisation_of, quantise, target_of
from n6build.compile.reference.onnx.nodes.reshaping import in_shape
from n6build.compile.reference.onnx.storage import Order, Shape, as_in_the_model
from n6build.compile.reference.onnx.values import Constant, Held, Pending, Target, Value

_ONE_MATRIX = "multiply by one constant matrix, as a fully connected layer does"


def _pending(
    node: Node, building: Building, given: Held, weights: Constant, bias: Constant | None, *, transposed: bool
) -> Pending:
    """Return the product with a constant matrix, not quantised yet.

    Args:
        transposed: Whether weights have the outputs first, in memory as the kernel reads them.
    """
    if len(weights.shape) != 2:
        raise node.error("N6-NET-007", f"its weights have the shape {list(weights.shape)}", _ONE_MATRIX)
    data = weights_of(node, weights, 0 if transposed else 1)
    matrix = data.array if transposed else data.array.T
    outputs, inputs = matrix.shape
    if len(given.shape) < 2 or given.shape[-1] != inputs:
        what = f"weights {list(weights.shape)} do not fit its input {list(given.shape)}"
        raise node.error("N6-NET-007", what, _ONE_MATRIX)
    shape = (*given.shape[:-1], outputs)
    order = as_in_the_model(len(shape))

    def make(target: Target) -> Held:
        source = building.in_model_order(given)
        assert data.quantisation is not None and source.tensor.quantisation is not None
        steps = bias_steps(node, bias, source.tensor.quantisation, data.quantisation, outputs)
        inputs_of_kernel = [
            source.tensor,
            building.constant(f"{node.outputs[0]} weights", matrix, replace(data.quantisation, axis=0)),
            building.constant(f"{node.outputs[0]} bias", steps),
        ]
        options = LimitOptions(target.low, target.high)
        return building.made("QLinearMatMul", inputs_of_kernel, target, shape, order, options)

    return Pending(shape, make)


def _gemm(node: Node, building: Building) -> Value:
    attributes = node.attributes
    factors = (attributes.get("alpha", 1.0), attributes.get("beta", 1.0), attributes.get("transA", 0))
    if factors != (1.0, 1.0, 0):
        what = f"has alpha {factors[0]:g}, beta {factors[1]:g} and transA {factors[2]}"
        raise node.error("N6-NET-008", what, "use alpha 1 and beta 1, without transA")
    transposed = bool(attributes.get("transB", 0))
    bias = node.optional_constant(2)
    return _pending(node, building, node.quantised(0), node.constant(1), bias, transposed=transposed)


def matrices_of(node: Node, x: Shape, y: Shape) -> tuple[Shape, Shape, Shape]:
    """Return the shapes of two tensors of matrices, of one rank, and of the product.

    Raises:
        N6Error: N6-NET-007 if they do not fit together.
    """
    shapes = [(1,) * (2 - len(each)) + each for each in (x, y)]
    rank = max(map(len, shapes))
    (*of_x, rows, depth), (*of_y, inputs, columns) = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    ones = [1] * (rank - 2)
    if depth != inputs or min(len(x), len(y)) < 2 or (of_x != of_y and ones not in (of_x, of_y)):
        what = f"{list(x)} and {list(y)} do not fit together"
        hint = "use matrices of two or more dimensions with equal batches, or a single matrix for one of them"
        raise node.error("N6-NET-007", what, hint)
    shape = (*(of_y if of_x == ones else of_x), rows, columns)
    return (*of_x, rows, depth), (*of_y, inputs, columns), shape


def _product(node: Node, building: Building, x: Value, y: Value) -> Pending:
    """Return the product of two tensors of matrices, at most one of them constant."""
    of_x, of_y, shape = matrices_of(node, x.shape, y.shape)
    rank = len(shape)
    transposed = (*range(rank - 2), rank - 1, rank - 2)

    def make(target: Target) -> Held:
        first = _operand(node, building, x, of_x, as_in_the_model(rank), 0)
        second = _operand(node, building, y, of_y, transposed, 1)
        options = LimitOptions(target.low, target.high)
        return building.made("QLinearBatchMatMul", [first, second], target, shape, as_in_the_model(rank), options)

    return Pending(shape, make)


def _operand(node: Node, building: Building, value: Value, shape: Shape, order: Order, position: int) -> Tensor:
    if isinstance(value, Held) and value.real:
        return building.ordered(in_shape(building, value, shape), order).tensor
    quantisation = value.quantisation if isinstance(value, Constant) else None
    if not isinstance(value, Constant) or quantisation is None or len(quantisation.scales) != 1:
        what = f"its input {position} is not quantised with one scale"
        raise node.error("N6-NET-004", what, "quantise both inputs, per tensor")
    array = value.array.reshape(shape).transpose(order)
    return building.constant(f"{node.outputs[0]} operand {position}", array, quantisation)


def _matmul(node: Node, building: Building) -> Value:
    x, y = node.value(0), node.value(1)
    if isinstance(x, Constant) or not isinstance(y, Constant) or len(y.shape) > 2:
        for position, value in enumerate((x, y)):
            if not isinstance(value, Constant):
                node.quantised(position)
        return _product(node, building, x, y)
    return _pending(node, building, node.quantised(0), node.constant(1), None, transposed=False)


def _qlinear_matmul(node: Node, building: Building) -> Value:
    """Translate a QLinearMatMul.

    Inputs: a, its scale and zero point, b with both, scale and zero point of the output.
    """
    given = held_with(node, building, 0)
    if not isinstance(node.value(3), Constant):
        return quantise(
            node, building, _product(node, building, given, held_with(node, building, 3)), target_of(node, 6)
        )
    weights = Constant(as_int8(node.constant(3).array), replace(quantisation_of(node, 4), axis=1))
    pending = _pending(node, building, given, weights, None, transposed=False)
    return quantise(node, building, pending, target_of(node, 6))


def _qgemm(node: Node, building: Building) -> Value:
    """Translate a QGemm of com.microsoft.

    Inputs: a with scale and zero point, b with both, a bias in steps of the sums, both of the
    output.
    """
    given = held_with(node, building, 0)
    transposed = bool(node.attributes.get("transB", 0))
    if node.attributes.get("transA", 0) or node.attributes.get("alpha", 1.0) != 1.0 or node.given(7) is None:
        raise node.error(
            "N6-NET-008", "has transA, an alpha, or a float output", "remove them: this backend does not support them"
        )
    scales = replace(quantisation_of(node, 4), axis=0 if transposed else 1)
    weights = Constant(as_int8(node.constant(3).array), scales)
    bias = node.optional_constant(6)
    if bias is not None:
        assert given.tensor.quantisation is not None
        steps = np.float32(given.tensor.quantisation.scale) * np.array(scales.scales, np.float32)
        bias = Constant(bias.array, replace(scales, scales=tuple(map(float, steps)), axis=0))
    pending = _pending(node, building, given, weights, bias, transposed=transposed)
    return quantise(node, building, pending, target_of(node, 7))


FAMILY = NodeFamily({"Gemm": _gemm, "MatMul": _matmul, "QLinearMatMul": _qlinear_matmul, "QGemm": _qgemm})
