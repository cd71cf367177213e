"""LOGICAL_AND: true where both elements are true.

The shapes of the tensors broadcast.
"""

from __future__ import annotations

from n6build.compile.reference.extremes import extreme_operator
from n6build.compile.reference.logical import logical

OPERATOR = logical("LOGICAL_AND", "LogicalAnd", extreme_operator("MINIMUM", "Minimum"))
