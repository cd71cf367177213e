"""MINIMUM: the smaller of two elements, of tensors whose shapes broadcast."""

from __future__ import annotations

from n6build.network.reference.extremes import extreme_operator

OPERATOR = extreme_operator("MINIMUM", "Minimum")
