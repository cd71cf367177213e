"""Real scales as the integers that the reference resolver of TensorFlow Lite computes with."""

from __future__ import annotations

import math
from dataclasses import dataclass

INT8_MIN, INT8_MAX = -128, 127
MAX_LEFT_SHIFT = 30
# Of the exponents of softmax, as the reference resolver has them.
_EXPONENT_INTEGER_BITS = 5


class ScaleError(Exception):
    """Scales that leave the range of the fixed-point arithmetic."""


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


def accumulator_multiplier(real: float) -> tuple[int, int]:
    """`quantize_multiplier` for the factor that an accumulator is scaled by. Raises ScaleError where it is too large for a
    kernel."""
    multiplier, shift = quantize_multiplier(real)
    if shift > MAX_LEFT_SHIFT:
        raise ScaleError(f"its accumulator would be scaled by {real:g}, at most 2^{MAX_LEFT_SHIFT} is possible")
    return multiplier, shift


def wrapped(x: int, bits: int = 32) -> int:
    """As an integer register of so many bits holds it."""
    half = 1 << (bits - 1)
    return (x + half) % (2 * half) - half


def doubling_high_multiply(a: int, b: int, bits: int = 32) -> int:
    """a * b / 2^(bits - 1), halves rounded up; the product of the two lowest integers saturates."""
    lowest = -(1 << (bits - 1))
    return -lowest - 1 if a == b == lowest else (a * b + (1 << (bits - 2))) >> (bits - 1)


def rounding_divide(x: int, exponent: int, bits: int = 32) -> int:
    """x / 2^exponent, halves rounded away from zero, with a mask of `bits` bits: from exponent == bits on the result is 0 or
    -1."""
    mask = wrapped((1 << exponent) - 1, bits)
    threshold = (mask >> 1) + (x < 0)
    return (x >> exponent) + ((x & mask) > threshold)


def scale_double(x: int, multiplier: int, shift: int) -> int:
    """x * multiplier * 2^(shift - 31), as n6k_scale_double of requantize.h: two roundings; a left shift wraps."""
    high = doubling_high_multiply(wrapped(x << max(shift, 0)), multiplier)
    return rounding_divide(high, max(-shift, 0))


@dataclass(frozen=True)
class ExponentScaling:
    """From differences of input elements to exponents in Q5.26. diff_min: the smallest difference that counts."""

    multiplier: int
    left_shift: int
    diff_min: int


def exponent_scaling(real: float) -> ExponentScaling:
    """real: what a difference of 1 means. Raises ScaleError where that is too little for the fixed point."""
    one = 1 << (31 - _EXPONENT_INTEGER_BITS)
    multiplier, left_shift = quantize_multiplier(min(real * one, float((1 << 31) - 1)))
    if left_shift < 1:
        raise ScaleError(f"its input has the scale {real:g}, too fine for its fixed point")
    radius = ((1 << _EXPONENT_INTEGER_BITS) - 1) * one / 2.0**left_shift
    return ExponentScaling(multiplier, left_shift, -math.floor(radius))
