"""Convolutions of a quantised activation with constant weights, in NHWC."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from n6build.compile.reference.graph import Quantisation, Tensor
from n6build.compile.reference.onnx.building import Building
from n6build.compile.reference.onnx.node import Node, NodeFamily
from n6build.compile.reference.onnx.nodes.quantising import (
    as_int8,
    one_quantisation,
    quantisation_of,
    quantise,
    target_of,
    with_scale,
)
from n6build.compile.reference.onnx.operators.qlinear_conv import ConvOptions
from n6build.compile.reference.onnx.storage import Shape, channels_last
from n6build.compile.reference.onnx.values import Constant, Float32, Held, Pending, Target, Value
from n6build.compile.reference.onnx.windowing import output_sizes, windowing_of

# Numbers that most scales are excluded by.
_FEW = 16
_LEAST_SCALE = 1e-30
# Range of the factors that weights are scaled by: others would lose the digits of a bias.
_FACTORS = (1e-4, 1e4)
_SYMMETRIC = "quantise the weights symmetrically (weight_type QInt8, WeightSymmetric)"


@dataclass(frozen=True)
class Weights:
    """Weights and biases of a convolution.

    Attributes:
        data: Weights of int8, output channels first.
        bias: Real numbers, one for each output channel, or int32 in steps of the sums.
    """

    data: Constant
    bias: Constant | None


def weights_of(node: Node, weights: Constant, axis: int) -> Constant:
    """Check weights and return them.

    They have to be int8 and symmetric, with one scale or one for each index of dimension `axis`.

    Raises:
        N6Error: N6-NET-004 if they are not int8 with a scale; N6-NET-006 if they have a zero point
            or scales along another dimension.
    """
    if weights.quantisation is None and weights.array.dtype == np.float32:
        weights = held_exactly(weights, axis) or weights
    quantisation = weights.quantisation
    if quantisation is None or weights.array.dtype != np.int8:
        what = f"its weights are {weights.array.dtype.name} without a scale; this backend computes int8"
        raise node.error("N6-NET-004", what, "quantise the model statically, in QDQ format, with int8 weights")
    if any(quantisation.zero_points):
        raise node.error("N6-NET-006", "its weights have a zero point other than 0", _SYMMETRIC)
    if len(quantisation.scales) > 1 and quantisation.axis != axis:
        what = f"its weights have scales along dimension {quantisation.axis}, not {axis}"
        raise node.error("N6-NET-006", what, "quantise weights per output channel")
    return weights


def held_exactly(weights: Constant, axis: int) -> Constant | None:
    """Return float32 weights as int8 with a scale for each output channel, or None.

    Tools that store quantised weights as real numbers leave such weights. None: int8 does not hold all of them.

    Args:
        weights: Weights without quantisation.
        axis: Dimension of the output channels.
    """
    rows = np.moveaxis(weights.array, axis, 0).reshape(weights.shape[axis], -1)
    if not rows.size or not np.isfinite(rows).all():
        return None
    scales, steps = np.zeros(len(rows), np.float32), np.zeros(rows.shape, np.int8)
    for channel, row in enumerate(rows):
        found = _steps_of(row)
        if found is None:
            return None
        scales[channel], steps[channel] = found
    data = np.moveaxis(steps.reshape(np.moveaxis(weights.array, axis, 0).shape), 0, axis)
    quantisation = Quantisation(tuple(float(scale) for scale in scales), (0,) * len(scales), axis)
    return Constant(np.ascontiguousarray(data), quantisation)


def _steps_of(row: Float32) -> tuple[np.float32, NDArray[np.int8]] | None:
    """Return the scale and the steps of exact multiples of it, or None."""
    largest = np.abs(row).max()
    if largest == 0:
        return np.float32(1), np.zeros(row.shape, np.int8)
    few = row[:_FEW]
    quotients = largest / np.arange(127, 0, -1, dtype=np.float32)
    # Rounding may have moved the quotient from the scale.
    nearest = (quotients, np.nextafter(quotients, 0), np.nextafter(quotients, largest))
    for scale in np.stack(nearest, 1).reshape(-1):
        if scale > _LEAST_SCALE and np.array_equal(np.rint(few / scale) * scale, few):
            steps = np.rint(row / scale)
            if np.array_equal(steps * scale, row):
                return scale, steps.astype(np.int8)
    return None


def bias_steps(
    node: Node, bias: Constant | None, source: Quantisation, weights: Quantisation, channels: int
) -> np.ndarray:
    """Return the bias in steps of the sums, input scale * weight scale.

    Integers of the file in such steps are returned as they are, other numbers are rounded.

    Raises:
        N6Error: N6-NET-007 if the bias has another size than the output channels.
    """
    if bias is None:
        return np.zeros(channels, np.int32)
    array = bias.array.reshape(-1)
    if array.size not in (1, channels):
        raise node.error(
            "N6-NET-007", f"its bias has {array.size} values instead of {channels}", "export the model again"
        )
    steps = np.float32(source.scale) * np.array(weights.scales, np.float32)
    if bias.quantisation is not None and np.allclose(bias.quantisation.scales, steps, rtol=1e-6, atol=0):
        exact = array.astype(np.int64)
    else:
        exact = np.rint(bias.numbers().astype(np.float64).reshape(-1) / steps.astype(np.float64))
    return np.broadcast_to(np.clip(exact, -(2**31), 2**31 - 1), channels).astype(np.int32)


def check_groups(node: Node, given: Shape, weights: Shape, groups: int) -> None:
    """Check that weights fit an input of one or two dimensions.

    Raises:
        N6Error: N6-NET-007 if they do not.
    """
    rank = len(given)
    fits = rank in (3, 4) and len(weights) == rank and groups > 0 and weights[1] * groups == given[1]
    if not fits or weights[0] % groups:
        what = f"weights {list(weights)} in {groups} groups do not fit its input {list(given)}"
        raise node.error("N6-NET-007", what, "use a convolution over one or two dimensions")


def pending_convolution(node: Node, building: Building, given: Held, weights: Weights) -> Pending:
    """Return a convolution that is not quantised yet.

    Raises:
        N6Error: N6-NET-007 if the weights or the window do not fit the input.
    """
    shape = weights.data.shape
    rank = len(given.shape)
    groups = int(node.attributes.get("group", 1))
    check_groups(node, given.shape, shape, groups)
    windowing = windowing_of(node, given.shape[2:], shape[2:])
    output: Shape = (given.shape[0], shape[0], *output_sizes(node, windowing, given.shape[2:]))
    order = channels_last(rank)

    def make(target: Target) -> Held:
        source = building.ordered(given, order)
        inputs = [source.tensor, *parameters(node, building, source, weights)]
        options = ConvOptions(target.low, target.high, windowing, groups)
        return building.made("QLinearConv", inputs, target, output, order, options)

    def scaled(factors: Float32, offsets: Float32) -> Pending | None:
        changed = _scaled(weights, factors, offsets)
        return None if changed is None else pending_convolution(node, building, given, changed)

    return Pending(output, make, scaled=scaled)


def _scaled(weights: Weights, factors: Float32, offsets: Float32) -> Weights | None:
    """Return weights and bias times a factor for each channel, or None.

    The offsets are added to the bias.

    It is None if a factor would lose the digits of a bias, or the sign of a weight cannot change.
    """
    data, quantisation, sizes = weights.data.array, weights.data.quantisation, np.abs(factors)
    assert quantisation is not None
    negative = factors < 0
    usable = np.isfinite(offsets).all() and (sizes >= _FACTORS[0]).all() and (sizes <= _FACTORS[1]).all()
    if not usable or data[negative].min(initial=0) == -128:
        return None
    bias = np.zeros(len(factors), np.float32) if weights.bias is None else weights.bias.numbers().reshape(-1)
    signs = np.where(negative, -1, 1).astype(np.int8).reshape(-1, *(1,) * (data.ndim - 1))
    scales = tuple(map(float, np.array(quantisation.scales, np.float32) * sizes))
    signed = Constant(data * signs, Quantisation(scales, (0,) * len(scales), 0))
    return Weights(signed, Constant((bias * factors + offsets).astype(np.float32)))


def parameters(node: Node, building: Building, source: Held, weights: Weights) -> list[Tensor]:
    """Return weights and bias as QLinearConv takes them.

    Args:
        node: Node that names the constants.
        building: Graph that gets the constants.
        source: Tensor that QLinearConv reads.
        weights: Weights and bias of the model.
    """
    data, given = weights.data, source.tensor.quantisation
    assert data.quantisation is not None and given is not None
    last = (0, *range(2, len(data.shape)), 1)
    scales = replace(data.quantisation, axis=0)
    bias = bias_steps(node, weights.bias, given, data.quantisation, data.shape[0])
    return [
        building.constant(f"{node.outputs[0]} weights", data.array.transpose(last), scales),
        building.constant(f"{node.outputs[0]} bias", bias),
    ]


def _conv(node: Node, building: Building) -> Value:
    bias, given = node.optional_constant(2), node.quantised(0)
    weights = Weights(weights_of(node, node.constant(1), 0), bias)
    if node.constant(1).quantisation is None and not _fits(node, given, weights):
        what = "its bias is too large for the steps of its float32 weights"
        raise node.error("N6-NET-006", what, "quantise the model statically, in QDQ format, with int8 weights")
    return pending_convolution(node, building, given, weights)


def _fits(node: Node, given: Held, weights: Weights) -> bool:
    """Return whether sums fit in 32 bits."""
    data, source = weights.data, given.tensor.quantisation
    assert data.quantisation is not None and source is not None
    steps = bias_steps(node, weights.bias, source, data.quantisation, data.shape[0])
    largest = np.abs(data.array.astype(np.int64)).reshape(len(data.array), -1).sum(axis=1) * 255
    return bool((largest + np.abs(steps.astype(np.int64)) < 1 << 31).all())


def _qlinear_conv(node: Node, building: Building) -> Value:
    """Translate a QLinearConv.

    Inputs: x, its scale and zero point, weights with both, scale and zero point of the output,
    bias.
    """
    given = held_with(node, building, 0)
    scales = replace(quantisation_of(node, 4), axis=0)
    data = weights_of(node, Constant(as_int8(node.constant(3).array), scales), 0)
    bias = node.optional_constant(8)
    pending = pending_convolution(node, building, given, Weights(data, bias and _in_steps(bias, given, scales)))
    return quantise(node, building, pending, target_of(node, 6))


def _in_steps(bias: Constant, given: Held, weights: Quantisation) -> Constant:
    assert given.tensor.quantisation is not None
    steps = np.float32(given.tensor.quantisation.scale) * np.array(weights.scales, np.float32)
    return Constant(bias.array, Quantisation(tuple(float(step) for step in steps), (0,) * len(steps)))


def held_with(node: Node, building: Building, position: int) -> Held:
    """Return the real numbers of an int8 tensor.

    Its scale and zero point are the two inputs behind it.

    Raises:
        N6Error: N6-NET-004 if the input is not an int8 tensor; N6-NET-006 if its scale or zero
            point is invalid, or not that with which it was made; N6-NET-007 if an input is absent.
    """
    value, quantisation = node.value(position), one_quantisation(node, position + 1)
    if not isinstance(value, Held) or value.real or value.is_float:
        raise node.error("N6-NET-004", f"its input {position} is not an int8 tensor", "export the model again")
    return with_scale(node, building, value, quantisation)


FAMILY = NodeFamily({"Conv": _conv, "QLinearConv": _qlinear_conv})
