"""SQUARED_DIFFERENCE: (a - b)^2 of two tensors whose shapes broadcast."""

from __future__ import annotations

from n6build.network.reference.sums import sum_operator

OPERATOR = sum_operator("SQUARED_DIFFERENCE", "SquaredDifference", None, left_shift=7, power=2)
