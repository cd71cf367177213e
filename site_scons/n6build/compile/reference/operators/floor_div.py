"""FLOOR_DIV: the quotient of two tensors, rounded down."""

from __future__ import annotations

from n6build.compile.reference.by_type import also_of
from n6build.compile.reference.float32 import float_arithmetic
from n6build.compile.reference.integers import integer_operator

OPERATOR = also_of(integer_operator("FLOOR_DIV", "FloorDiv"), float_arithmetic("FLOOR_DIV", "FloorDiv"))
