"""LOGICAL_AND: whether both are true, of tensors whose shapes broadcast."""

from __future__ import annotations

from n6build.network.reference.extremes import extreme_operator
from n6build.network.reference.logical import logical

OPERATOR = logical("LOGICAL_AND", "LogicalAnd", extreme_operator("MINIMUM", "Minimum"))
