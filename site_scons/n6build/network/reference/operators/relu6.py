"""RELU6: values are clamped to 0 to 6; input and output may have different scales."""

from __future__ import annotations

from n6build.network.reference.lookup import clamped_operator

OPERATOR = clamped_operator("RELU6", "Relu6")
