"""FLOOR_DIV: the quotient of two tensors, rounded down."""

from __future__ import annotations

from n6build.network.reference.by_type import also_of
from n6build.network.reference.float32 import float_arithmetic
from n6build.network.reference.integers import integer_operator

OPERATOR = also_of(integer_operator("FLOOR_DIV", "FloorDiv"), float_arithmetic("FLOOR_DIV", "FloorDiv"))
