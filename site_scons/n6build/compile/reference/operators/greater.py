"""GREATER: true where the first element is greater than the second.

The shapes of the tensors broadcast.
"""

from __future__ import annotations

from n6build.compile.reference.comparisons import comparison

OPERATOR = comparison("GREATER", "Greater", "GREATER")
