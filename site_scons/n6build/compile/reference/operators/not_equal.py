"""NOT_EQUAL: true where two elements differ.

The shapes of the tensors broadcast.
"""

from __future__ import annotations

from n6build.compile.reference.comparisons import comparison

OPERATOR = comparison("NOT_EQUAL", "NotEqual", "LESS", "GREATER", "UNORDERED")
