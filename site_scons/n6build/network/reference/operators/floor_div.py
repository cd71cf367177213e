"""FLOOR_DIV: the quotient of two int32 tensors, rounded down."""

from __future__ import annotations

from n6build.network.reference.integers import integer_operator

OPERATOR = integer_operator("FLOOR_DIV", "FloorDiv")
