"""Gemm and MatMul: rows of a quantised activation times a constant matrix."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from n6build.network.reference.onnx.building import Building
from n6build.network.reference.onnx.limits import LimitOptions
from n6build.network.reference.onnx.node import Node, NodeFamily
from n6build.network.reference.onnx.nodes.convolution import bias_steps, held_with, weights_of
from n6build.network.reference.onnx.nodes.quantising import as_int8, quantisation_of, quantise, target_of
from n6build.network.reference.onnx.storage import as_in_the_model
from n6build.network.reference.onnx.values import Constant, Held, Pending, Target, Value

_ONE_MATRIX = "multiply by one constant matrix, as a fully connected layer does"


def _pending(
    node: Node, building: Building, given: Held, weights: Constant, bias: Constant | None, *, transposed: bool
) -> Pending:
    """transposed: weights have the outputs first, in memory as the kernel reads them."""
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
        raise node.error("N6-NET-008", what, "alpha and beta of 1 without transA are supported")
    transposed = bool(attributes.get("transB", 0))
    bias = node.optional_constant(2)
    return _pending(node, building, node.quantised(0), node.constant(1), bias, transposed=transposed)


def _matmul(node: Node, building: Building) -> Value:
    return _pending(node, building, node.quantised(0), node.constant(1), None, transposed=False)


def _qlinear_matmul(node: Node, building: Building) -> Value:
    """Inputs: a, its scale and zero point, b with both, scale and zero point of the output."""
    given = held_with(node, building, 0)
    weights = Constant(as_int8(node.constant(3).array), replace(quantisation_of(node, 4), axis=1))
    pending = _pending(node, building, given, weights, None, transposed=False)
    return quantise(node, building, pending, target_of(node, 6))


def _qgemm(node: Node, building: Building) -> Value:
    """Of com.microsoft. Inputs: a with scale and zero point, b with both, a bias in steps of the sums, both of the output."""
    given = held_with(node, building, 0)
    transposed = bool(node.attributes.get("transB", 0))
    if node.attributes.get("transA", 0) or node.attributes.get("alpha", 1.0) != 1.0 or node.given(7) is None:
        raise node.error("N6-NET-008", "has transA, an alpha, or a float output", "those are not supported")
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
