"""EQUAL: true where two elements are equal.

The shapes of the tensors broadcast.
"""

from __future__ import annotations

from n6build.compile.reference.comparisons import comparison

OPERATOR = comparison("EQUAL", "Equal", "EQUAL")
