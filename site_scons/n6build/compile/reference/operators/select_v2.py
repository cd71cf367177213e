"""SELECT_V2: the first element where a condition is true, else the second.

The shapes of the tensors broadcast.
"""

from __future__ import annotations

from n6build.compile.reference.selecting import selection

OPERATOR = selection("SELECT_V2", "SelectV2")
