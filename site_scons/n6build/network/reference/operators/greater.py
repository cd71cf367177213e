"""GREATER: whether an element is greater than another, of tensors whose shapes broadcast."""

from __future__ import annotations

from n6build.network.reference.comparisons import comparison

OPERATOR = comparison("GREATER", "Greater", "GREATER")
