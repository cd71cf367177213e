"""GREATER_EQUAL: whether an element is at least another, of tensors whose shapes broadcast."""

from __future__ import annotations

from n6build.network.reference.comparisons import comparison

OPERATOR = comparison("GREATER_EQUAL", "GreaterEqual", "GREATER", "EQUAL")
