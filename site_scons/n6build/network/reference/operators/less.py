"""LESS: whether an element is less than another, of tensors whose shapes broadcast."""

from __future__ import annotations

from n6build.network.reference.comparisons import comparison

OPERATOR = comparison("LESS", "Less", "LESS")
