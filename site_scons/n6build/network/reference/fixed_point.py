"""Real scales as the integers that the reference resolver of TensorFlow Lite computes with."""

from __future__ import annotations

import math

import numpy as np

from n6build.network.reference.graph import Activation, Quantisation

SOFTMAX_INTEGER_BITS = 5
ADD_LEFT_SHIFT = 20
_INT8_MIN, _INT8_MAX = -128, 127


def quantize_multiplier(real: float) -> tuple[int, int]:
    """real = multiplier * 2^(shift - 31) with multiplier in Q31, rounded half up; (0, 0) where real is below 2^-32."""
    if real == 0:
        return 0, 0
    mantissa, shift = math.frexp(real)
    multiplier = math.floor(mantissa * 2**31 + 0.5)
    if multiplier == 2**31:
        multiplier //= 2
        shift += 1
    return (0, 0) if shift < -31 else (multiplier, shift)


def divided_multiplier(multiplier: int, shift: int, count: int) -> tuple[int, int]:
    """The scaling of a sum that makes a mean of `count` values of it: as the reference resolver folds the division.

    The multiplier is shifted up before it is divided, as far as its right shift of at most 31 bits goes along.
    """
    up = min(count.bit_length() - 1, 32, 31 + shift)
    return (multiplier << up) // count, shift - up


def clamp_range(activation: Activation, output: Quantisation) -> tuple[int, int]:
    """The int8 range that a fused activation leaves; its limits are quantised in float32, halves away from zero."""

    def quantise(limit: float) -> int:
        steps = np.float32(limit) / np.float32(output.scale)
        rounded = math.copysign(math.floor(abs(float(steps)) + 0.5), float(steps))
        return max(_INT8_MIN, min(_INT8_MAX, output.zero_point + int(rounded)))

    low = {"NONE": _INT8_MIN, "RELU": quantise(0), "RELU6": quantise(0), "RELU_N1_TO_1": quantise(-1)}[activation]
    high = {"NONE": _INT8_MAX, "RELU": _INT8_MAX, "RELU6": quantise(6), "RELU_N1_TO_1": quantise(1)}[activation]
    return low, high


def softmax_constants(beta: float, input_scale: float) -> tuple[int, int, int]:
    """(multiplier, left shift, smallest difference to the maximum that counts) of Q5.26 exponents."""
    fraction_bits = 31 - SOFTMAX_INTEGER_BITS
    real = min(beta * input_scale * (1 << fraction_bits), float((1 << 31) - 1))
    multiplier, left_shift = quantize_multiplier(real)
    radius = ((1 << SOFTMAX_INTEGER_BITS) - 1) * (1 << fraction_bits) / 2.0**left_shift
    return multiplier, left_shift, -math.floor(radius)
