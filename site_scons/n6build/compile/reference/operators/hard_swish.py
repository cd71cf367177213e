"""HARD_SWISH: x * clamp(x + 3, 0, 6) / 6.

It uses the 16-bit arithmetic of the reference resolver.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from n6build.compile.reference.fixed_point import (
    ScaleError,
    doubling_high_multiply,
    quantize_multiplier,
    rounding_divide,
    wrapped,
)
from n6build.compile.reference.lookup import integer_table, lookup_operator
from n6build.compile.reference.operands import Operands, required_quantisation

_BITS = 16
# Number of bits that an input gains below the point.
_HIGH_RESOLUTION = 7


def _short_multiplier(real: float) -> tuple[int, int]:
    """Return a multiplier in Q15 and a shift, as `quantize_multiplier` in Q31."""
    multiplier, shift = quantize_multiplier(real)
    return min((multiplier + (1 << (_BITS - 1))) >> _BITS, 0x7FFF), shift


def _table(operands: Operands) -> NDArray[np.int8]:
    fine = np.float32(required_quantisation(operands.first).scale) * np.float32(2**-_HIGH_RESOLUTION)
    target = required_quantisation(operands.output)
    out_multiplier, out_shift = _short_multiplier(float(fine / np.float32(target.scale)))
    if out_shift > 0:
        raise ScaleError(f"its input's scale is {1 << _HIGH_RESOLUTION} times that of its output or more")
    multiplier, shift = _short_multiplier(float(fine / (np.float32(3) / np.float32(1 << (_BITS - 1)))))

    def hard_swish(x: int) -> int:
        x <<= _HIGH_RESOLUTION
        gate = _gate(x, multiplier, shift)
        # The product is truncated, not rounded.
        product = int(gate * doubling_high_multiply(x, out_multiplier, _BITS) / (1 << (_BITS - 1)))
        return _as_output(rounding_divide(product, -out_shift, _BITS))

    def _as_output(x: int) -> int:
        return wrapped(x + target.zero_point, _BITS) - target.zero_point

    return integer_table(operands, hard_swish)


def _gate(x: int, multiplier: int, shift: int) -> int:
    """Return clamp(x + 3, 0, 6) / 6 in Q15."""
    if shift > 0:
        x = _saturated(x << (shift - 1))
    x = doubling_high_multiply(x, multiplier, _BITS)
    x = _saturated(x << 1) if shift > 0 else rounding_divide(x, -shift, _BITS)
    return (x + (1 << (_BITS - 1))) >> 1


def _saturated(x: int) -> int:
    return max(-(1 << (_BITS - 1)), min((1 << (_BITS - 1)) - 1, x))


OPERATORS = (lookup_operator("HARD_SWISH", "HardSwish", _table),)
