"""Weights and biases: rules, folding of zero points, and scaling of accumulators."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from n6build.compile.reference.descriptors import Member, reads
from n6build.compile.reference.fixed_point import accumulator_multiplier
from n6build.compile.reference.graph import Tensor
from n6build.compile.reference.kernel_call import Argument, Constant, Parameter
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.rules import CONVERT, INT8, INT32, QUANTISE, Problem, check_per_tensor, shown

# Inputs of an operator with weights: activation, weights, bias (optional).
WEIGHTS = 1
BIAS = 2
INPUTS = (INT8, INT8, INT32)
CONSTANTS = (WEIGHTS, BIAS)

# Members of a descriptor, in this order.
WEIGHT_MEMBERS = (Member("weights", reads("int8_t")), Member("bias", reads("int32_t")))
SCALING_MEMBERS = (Member("multiplier", reads("int32_t")), Member("shift", reads("int32_t")))


def check_weights(operands: Operands, channel_axis: int) -> Iterator[Problem]:
    """Check the scales of weights and the size of a bias.

    Weights are symmetric. They have one scale, or one for each output channel along `channel_axis`.
    A bias, if any, has one value for each channel.
    """
    weights, bias = operands.required(WEIGHTS), operands.optional(BIAS)
    yield from check_channel_scales(weights, channel_axis)
    channels = weights.shape[channel_axis]
    if bias is not None and bias.elements != channels:
        yield Problem("N6-NET-007", f"tensor {shown(bias)} has {bias.elements} values instead of {channels}", CONVERT)


def check_channel_scales(weights: Tensor, axis: int) -> Iterator[Problem]:
    """Check that weights are symmetric and have one scale or one for each channel.

    Args:
        weights: The weights.
        axis: Dimension of the output channels.
    """
    quantisation = weights.quantisation
    if quantisation is None:
        yield Problem("N6-NET-006", f"tensor {shown(weights)} has no quantisation", QUANTISE)
        return
    count, channels = len(quantisation.scales), weights.shape[axis]
    if count not in (1, channels) or (count > 1 and quantisation.axis != axis):
        yield Problem(
            "N6-NET-006",
            f"tensor {shown(weights)} of shape {list(weights.shape)} has {count} scales along dimension "
            f"{quantisation.axis}; expected 1, or {channels} along dimension {axis}",
            QUANTISE,
        )
    if any(not math.isfinite(scale) or scale <= 0 for scale in quantisation.scales):
        yield Problem("N6-NET-006", f"tensor {shown(weights)} has a scale that is not positive", QUANTISE)
    if weights.unsigned:
        yield from check_per_tensor(weights)
    elif any(zero_point != 0 for zero_point in quantisation.zero_points):
        yield Problem(
            "N6-NET-006", f"tensor {shown(weights)} has a zero point other than 0", "use symmetric int8 weights"
        )


def check_symmetric(weights: Tensor) -> Iterator[Problem]:
    """Check that weights have one scale and the zero point 0."""
    yield from check_per_tensor(weights)
    quantisation = weights.quantisation
    if quantisation is not None and quantisation.zero_points != (0,):
        yield Problem("N6-NET-006", f"tensor {shown(weights)} has a zero point other than 0", "use symmetric weights")


def weight_arguments(operands: Operands, channel_axis: int) -> dict[str, Argument]:
    """Return the arguments for WEIGHT_MEMBERS.

    The input's zero point is folded into the biases.
    """
    weights, bias = operands.required(WEIGHTS), operands.optional(BIAS)
    zero_point = required_quantisation(operands.source).zero_point
    folded = folded_bias(weights, bias, zero_point, channel_axis)
    return {"weights": Parameter(weights, "weights"), "bias": Constant("int32", folded)}


def folded_bias(weights: Tensor, bias: Tensor | None, zero_point: int, channel_axis: int = 0) -> NDArray[np.int32]:
    """Return bias - zero point * sum of the weights, for each output channel.

    Args:
        weights: The weights.
        bias: The bias, or None.
        zero_point: Zero point of the values that the weights are multiplied with.
        channel_axis: Dimension of the output channels.
    """
    assert weights.data is not None
    other_axes = tuple(axis for axis in range(len(weights.shape)) if axis != channel_axis)
    taps = weights.elements // weights.shape[channel_axis]
    sums = weights.data.sum(axis=other_axes, dtype=np.int64) - required_quantisation(weights).zero_point * taps
    start = np.zeros(weights.shape[channel_axis], np.int64)
    if bias is not None and bias.data is not None:
        start = bias.data.reshape(-1).astype(np.int64)
    return wrapped_int32(start - zero_point * sums)


def wrapped_int32(values: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return values modulo 2^32, as an int32 accumulator has them."""
    return (values & 0xFFFFFFFF).astype(np.uint32).view(np.int32)


def plain_bias(operands: Operands, channel_axis: int) -> NDArray[np.int64]:
    """Return the bias as the model has it, or zeros if it has none."""
    bias = operands.optional(BIAS)
    if bias is not None and bias.data is not None:
        return bias.data.reshape(-1).astype(np.int64)
    return np.zeros(operands.required(WEIGHTS).shape[channel_axis], np.int64)


def weights_zero_point(operands: Operands) -> int:
    """Return the zero point of the weights.

    It is other than 0 only in models that were uint8.
    """
    return required_quantisation(operands.required(WEIGHTS)).zero_point


def convolution_arguments(operands: Operands, channel_axis: int) -> dict[str, Argument]:
    """Return the arguments for weights, biases and scaling.

    They are those of `weight_arguments` and `_scaling_arguments`.
    """
    return {**weight_arguments(operands, channel_axis), **_scaling_arguments(operands, channel_axis)}


def _scaling_arguments(operands: Operands, channel_axis: int) -> dict[str, Argument]:
    """Return the arguments for SCALING_MEMBERS, one value for each output channel.

    Raises:
        ScaleError: The scale of an accumulator is too large.
    """
    return scaling_of([accumulator_multiplier(real) for real in convolution_scales(operands, channel_axis)])


def scaling_of(pairs: Sequence[tuple[int, int]]) -> dict[str, Argument]:
    """Return the arguments for SCALING_MEMBERS.

    Args:
        pairs: Multiplier and shift of each output channel.
    """
    return {
        "multiplier": Constant("int32", np.array([multiplier for multiplier, _ in pairs], np.int32)),
        "shift": Constant("int32", np.array([shift for _, shift in pairs], np.int32)),
    }


def real_scales(operands: Operands, channel_axis: int) -> list[float]:
    """Return input scale * weight scale / output scale for each output channel.

    The precision is the reference resolver's: double of float32 values.
    """
    return _real_scales(operands, channel_axis, np.float64)


def convolution_scales(operands: Operands, channel_axis: int) -> list[float]:
    """Return the scales of a convolution's output channels, as `real_scales` does.

    In uint8 convolutions, the resolver multiplies the first two scales in float32.
    """
    return _real_scales(operands, channel_axis, np.float32 if operands.required(WEIGHTS).unsigned else np.float64)


def _real_scales(operands: Operands, channel_axis: int, precision: type[np.float32 | np.float64]) -> list[float]:
    weights = operands.required(WEIGHTS)
    channels = weights.shape[channel_axis]
    source = required_quantisation(operands.first).scale
    target = required_quantisation(operands.output).scale
    real = [float(precision(source) * precision(scale)) / target for scale in required_quantisation(weights).scales]
    return real if len(real) == channels else real * channels
