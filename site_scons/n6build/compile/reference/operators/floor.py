"""FLOOR: elements rounded down to whole numbers, in float32."""

from __future__ import annotations

from n6build.compile.reference.float32 import float_function

OPERATOR = float_function("FLOOR", "Floor")
