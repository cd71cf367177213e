"""MAX_POOL_2D: the largest of the int16 elements of each window."""

from __future__ import annotations

from n6build.compile.reference.operators import max_pool_2d
from n6build.compile.reference.pooling_int16 import of_int16

OPERATOR = of_int16(max_pool_2d.OPERATOR)
