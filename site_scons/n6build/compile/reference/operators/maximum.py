"""MAXIMUM: the larger of two elements, of tensors whose shapes broadcast."""

from __future__ import annotations

from n6build.compile.reference.by_type import also_of
from n6build.compile.reference.extremes import extreme_operator
from n6build.compile.reference.float32 import float_arithmetic
from n6build.compile.reference.integers import integer_operator

OPERATOR = also_of(
    extreme_operator("MAXIMUM", "Maximum"),
    integer_operator("MAXIMUM", "Maximum"),
    float_arithmetic("MAXIMUM", "Maximum"),
)
