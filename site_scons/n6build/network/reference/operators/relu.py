"""RELU: negative values become 0; input and output may have different scales."""

from __future__ import annotations

from n6build.network.reference.lookup import clamped_operator

OPERATOR = clamped_operator("RELU", "Relu")
