"""RSQRT: 1 / square root.

It uses the fixed-point Newton-Raphson iteration of the reference resolver. That resolver stops at a
negative number. Here the result is then that of 0: the highest element.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from n6build.compile.reference.fixed_point import (
    INT8_MAX,
    INT8_MIN,
    accumulator_multiplier,
    doubling_high_multiply,
    rounding_divide,
    scale_double,
)
from n6build.compile.reference.float32 import float_function
from n6build.compile.reference.lookup import integer_table, lookup_operator
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import also_of

# Bits below the point of the number that is scaled to the output.
_FRACTION = 20
_ITERATIONS = 5
_THREE_HALVES = 3 << 27  # in Q3.28
_ONE = 1 << 28  # in Q3.28
_HALF_SQRT_2 = 1518500250  # in Q0.31


def _table(operands: Operands) -> NDArray[np.int8]:
    given, target = required_quantisation(operands.first), required_quantisation(operands.output)
    real = np.float32(1) / (np.sqrt(np.float32(given.scale)) * np.float32(target.scale))
    multiplier, shift = accumulator_multiplier(float(real))

    def rsqrt(x: int) -> int:
        if x <= 0:
            return INT8_MAX - INT8_MIN + abs(target.zero_point)
        inverse, inverse_shift = _inverse_square_root(x)
        fixed = scale_double(1, inverse, inverse_shift + _FRACTION)
        return scale_double(fixed, multiplier, shift - _FRACTION)

    return integer_table(operands, rsqrt)


def _inverse_square_root(x: int) -> tuple[int, int]:
    """Return (m, s) for 1 / sqrt(x) = m * 2^(s - 31) with x of at most 255."""
    if x == 1:
        return (1 << 31) - 1, 0
    # An even power of two scales x to between 1/4 and 1, in Q0.31; the bits are then read as Q3.28.
    pairs = (31 - x.bit_length()) // 2 - 1
    quarter = x << (2 * pairs) >> 1
    half = rounding_divide(quarter, 1)
    root = _ONE
    for _ in range(_ITERATIONS):
        cube = doubling_high_multiply(doubling_high_multiply(root, root), root)  # Q9.22
        correction = doubling_high_multiply(half, _to_q3(cube, 9))
        root = _to_q3(doubling_high_multiply(_THREE_HALVES, root) - correction, 6)
    shift = 11 - pairs
    result = doubling_high_multiply(root, _HALF_SQRT_2)
    return (result << -shift, 0) if shift < 0 else (result, -shift)


def _to_q3(x: int, integer_bits: int) -> int:
    """Return x with three bits above the point and the sign, saturated."""
    return max(-(1 << 31), min((1 << 31) - 1, x << (integer_bits - 3)))


OPERATORS = (also_of(lookup_operator("RSQRT", "Rsqrt", _table), float_function("RSQRT", "Rsqrt")),)
