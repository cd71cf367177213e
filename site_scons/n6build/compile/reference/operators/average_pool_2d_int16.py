"""AVERAGE_POOL_2D: the mean of each window of int16 elements.

Only elements inside the image count.
"""

from __future__ import annotations

from n6build.compile.reference.operators import average_pool_2d
from n6build.compile.reference.pooling_int16 import of_int16

OPERATOR = of_int16(average_pool_2d.OPERATOR)
