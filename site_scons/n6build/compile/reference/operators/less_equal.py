"""LESS_EQUAL: true where the first element is at most the second.

The shapes of the tensors broadcast.
"""

from __future__ import annotations

from n6build.compile.reference.comparisons import comparison

OPERATOR = comparison("LESS_EQUAL", "LessEqual", "LESS", "EQUAL")
