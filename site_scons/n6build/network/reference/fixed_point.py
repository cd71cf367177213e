"""Real scales as the integers that the reference resolver of TensorFlow Lite computes with."""

from __future__ import annotations

import math

INT8_MIN, INT8_MAX = -128, 127
MAX_LEFT_SHIFT = 30


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
