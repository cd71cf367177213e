"""DIV: the quotient of two tensors whose shapes broadcast.

The reference resolver stops at a divisor of 0. Here the quotient is then the end of the range on
the dividend's side, and 0 for a dividend of 0.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import tflite

from n6build.compile.reference.broadcasting import check_broadcast
from n6build.compile.reference.by_type import also_of
from n6build.compile.reference.fixed_point import INT8_MAX, INT8_MIN, quantize_multiplier
from n6build.compile.reference.float32 import float_arithmetic
from n6build.compile.reference.integers import integer_operator
from n6build.compile.reference.operands import Operands, zero_point_of
from n6build.compile.reference.products import product_operator, real_multiplier
from n6build.compile.reference.rules import QUANTISE, Problem, shown

# Bits without information in front of a dividend: the fewest, for a magnitude of 255, and the most, for 0 and -1.
_LEAST_HEADROOM, _MOST_HEADROOM = 23, 31
# The kernel shifts to the right by the bits in front of the dividend, plus the bits of the divisor behind its first one,
# minus the shift of the scaling.
_MOST_SHIFT = 63


def _real(a: np.float32, b: np.float32, output: np.float32) -> np.float32:
    return a / (b * output)


def _check(operands: Operands) -> Iterator[Problem]:
    yield from check_broadcast(operands)
    divisor = operands.required(1)
    zero_point = zero_point_of(divisor)
    values = np.array([INT8_MIN, INT8_MAX]) if divisor.data is None else divisor.data.astype(np.int32)
    magnitudes = np.abs(values - zero_point)
    if divisor.data is not None and not magnitudes.all():
        yield Problem("N6-NET-007", f"tensor {shown(divisor)} contains zeros", "remove the zeros from the divisor")
    _, shift = quantize_multiplier(real_multiplier(operands, _real))
    least, most = _LEAST_HEADROOM - shift, _MOST_HEADROOM + int(magnitudes.max()).bit_length() - 1 - shift
    if least < 0 or most > _MOST_SHIFT:
        yield Problem(
            "N6-NET-006",
            f"with these scales quotients would be shifted by {least} to {most} bits, outside 0 to {_MOST_SHIFT}",
            f"multiply by the reciprocal, or {QUANTISE}",
        )


OPERATOR = also_of(
    product_operator("DIV", "Div", (tflite.DivOptions, tflite.BuiltinOptions.DivOptions), _real, _check),
    integer_operator("DIV", "Div"),
    float_arithmetic("DIV", "Div"),
)
