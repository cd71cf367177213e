"""EQUAL: whether two elements are equal, of tensors whose shapes broadcast."""

from __future__ import annotations

from n6build.network.reference.comparisons import comparison

OPERATOR = comparison("EQUAL", "Equal", "EQUAL")
