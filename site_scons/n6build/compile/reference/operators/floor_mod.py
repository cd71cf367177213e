"""FLOOR_MOD: the remainder of a quotient rounded down, of int32 tensors.

It has the sign of the divisor.
"""

from __future__ import annotations

from n6build.compile.reference.integers import integer_operator

OPERATOR = integer_operator("FLOOR_MOD", "FloorMod")
