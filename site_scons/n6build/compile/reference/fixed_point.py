"""Real scales as integers, as TensorFlow Lite's reference resolver has them."""

from __future__ import annotations

import math
from dataclasses import dataclass

INT8_MIN, INT8_MAX = -128, 127
MAX_LEFT_SHIFT = 30
# Integer bits of the exponents of softmax in the reference resolver.
_EXPONENT_INTEGER_BITS = 5


class ScaleError(Exception):
    """An error for scales outside the range of the fixed-point arithmetic."""


def quantize_multiplier(real: float) -> tuple[int, int]:
    """Return (multiplier, shift) with real = multiplier * 2^(shift - 31).

    The multiplier is in Q31, rounded half up. The result is (0, 0) if `real` is below 2^-32.
    """
    if real == 0:
        return 0, 0
    mantissa, shift = math.frexp(real)
    multiplier = math.floor(mantissa * 2**31 + 0.5)
    if multiplier == 2**31:
        multiplier //= 2
        shift += 1
    return (0, 0) if shift < -31 else (multiplier, shift)


def accumulator_multiplier(real: float) -> tuple[int, int]:
    """Return `quantize_multiplier` for the factor that scales an accumulator.

    Raises:
        ScaleError: The factor is too large for a kernel.
    """
    multiplier, shift = quantize_multiplier(real)
    if shift > MAX_LEFT_SHIFT:
        raise ScaleError(f"its accumulator would be scaled by {real:g}, more than 2^{MAX_LEFT_SHIFT}")
    return multiplier, shift


def signed_multiplier(real: float) -> tuple[int, int]:
    """Return `accumulator_multiplier` for a factor of any sign.

    The multiplier has the sign of the factor, halves rounded up like those of a positive one.

    Raises:
        ScaleError: The factor is too large for a kernel.
    """
    if real >= 0:
        return accumulator_multiplier(real)
    multiplier, shift = accumulator_multiplier(-real)
    return -multiplier, shift


def wrapped(x: int, bits: int = 32) -> int:
    """Return an integer as a register of `bits` bits holds it."""
    half = 1 << (bits - 1)
    return (x + half) % (2 * half) - half


def doubling_high_multiply(a: int, b: int, bits: int = 32) -> int:
    """Return a * b / 2^(bits - 1) with halves rounded up.

    The product of the two lowest integers saturates.
    """
    lowest = -(1 << (bits - 1))
    return -lowest - 1 if a == b == lowest else (a * b + (1 << (bits - 2))) >> (bits - 1)


def rounding_divide(x: int, exponent: int, bits: int = 32) -> int:
    """Return x / 2^exponent with halves rounded away from zero.

    The mask has `bits` bits. From exponent == bits on, the result is therefore 0 or -1.
    """
    mask = wrapped((1 << exponent) - 1, bits)
    threshold = (mask >> 1) + (x < 0)
    return (x >> exponent) + ((x & mask) > threshold)


def scale_double(x: int, multiplier: int, shift: int) -> int:
    """Return x * multiplier * 2^(shift - 31), like n6k_scale_double.

    As in that function of requantize.h, it rounds twice and a left shift wraps.
    """
    high = doubling_high_multiply(wrapped(x << max(shift, 0)), multiplier)
    return rounding_divide(high, max(-shift, 0))


@dataclass(frozen=True)
class ExponentScaling:
    """Scaling of differences of input elements to exponents in Q5.26.

    Attributes:
        multiplier: Multiplier in Q31.
        left_shift: Left shift that belongs to the multiplier.
        diff_min: Smallest difference that counts.
    """

    multiplier: int
    left_shift: int
    diff_min: int


def exponent_scaling(real: float) -> ExponentScaling:
    """Return the scaling of the exponents of softmax.

    Args:
        real: Real value of a difference of 1.

    Raises:
        ScaleError: The real value is too small for the fixed point.
    """
    one = 1 << (31 - _EXPONENT_INTEGER_BITS)
    multiplier, left_shift = quantize_multiplier(min(real * one, float((1 << 31) - 1)))
    if left_shift < 1:
        raise ScaleError(f"its input has the scale {real:g}, too fine for its fixed point")
    radius = ((1 << _EXPONENT_INTEGER_BITS) - 1) * one / 2.0**left_shift
    return ExponentScaling(multiplier, left_shift, -math.floor(radius))
