"""LOGICAL_OR: true where at least one of two elements is true.

The shapes of the tensors broadcast.
"""

from __future__ import annotations

from n6build.compile.reference.extremes import extreme_operator
from n6build.compile.reference.logical import logical

OPERATOR = logical("LOGICAL_OR", "LogicalOr", extreme_operator("MAXIMUM", "Maximum"))
