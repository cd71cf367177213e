"""LESS_EQUAL: whether an element is at most another, of tensors whose shapes broadcast."""

from __future__ import annotations

from n6build.network.reference.comparisons import comparison

OPERATOR = comparison("LESS_EQUAL", "LessEqual", "LESS", "EQUAL")
