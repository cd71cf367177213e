"""LOGICAL_OR: whether one of two is true, of tensors whose shapes broadcast."""

from __future__ import annotations

from n6build.network.reference.extremes import extreme_operator
from n6build.network.reference.logical import logical

OPERATOR = logical("LOGICAL_OR", "LogicalOr", extreme_operator("MAXIMUM", "Maximum"))
