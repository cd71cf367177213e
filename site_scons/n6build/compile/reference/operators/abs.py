"""ABS: the magnitude; input and output may have different scales."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from n6build.compile.reference.by_type import also_of
from n6build.compile.reference.float32 import float_function
from n6build.compile.reference.lookup import integer_table, lookup_operator, rescaling
from n6build.compile.reference.operands import Operands


def _table(operands: Operands) -> NDArray[np.int8]:
    scaled = rescaling(operands)
    return integer_table(operands, lambda x: scaled(abs(x)))


OPERATOR = also_of(lookup_operator("ABS", "Abs", _table), float_function("ABS", "Abs"))
