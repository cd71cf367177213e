"""SELECT_V2: of two elements the first where a condition is true, else the second, of tensors whose shapes broadcast."""

from __future__ import annotations

from n6build.network.reference.selecting import selection

OPERATOR = selection("SELECT_V2", "SelectV2")
