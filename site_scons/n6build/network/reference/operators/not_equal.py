"""NOT_EQUAL: whether two elements differ, of tensors whose shapes broadcast."""

from __future__ import annotations

from n6build.network.reference.comparisons import comparison

OPERATOR = comparison("NOT_EQUAL", "NotEqual", "LESS", "GREATER", "UNORDERED")
