"""SQUARED_DIFFERENCE: (a - b)^2 of two tensors whose shapes broadcast."""

from __future__ import annotations

from n6build.compile.reference.by_type import also_of
from n6build.compile.reference.float32 import float_arithmetic
from n6build.compile.reference.sums import sum_operator

OPERATOR = also_of(
    sum_operator("SQUARED_DIFFERENCE", "SquaredDifference", None, left_shift=7, power=2),
    float_arithmetic("SQUARED_DIFFERENCE", "SquaredDifference"),
)
