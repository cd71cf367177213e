"""SQRT: the square root, truncated to whole steps of the output.

The reference resolver stops at a negative number. Here the result is then that of 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from n6build.compile.reference.by_type import also_of
from n6build.compile.reference.float32 import float_function
from n6build.compile.reference.lookup import lookup_operator, real_inputs, saturated
from n6build.compile.reference.operands import Operands, required_quantisation


def _table(operands: Operands) -> NDArray[np.int8]:
    target = required_quantisation(operands.output)
    steps = np.sqrt(np.maximum(real_inputs(operands), 0)) / np.float32(target.scale)
    return saturated(np.trunc(steps) + np.float32(target.zero_point))


OPERATOR = also_of(lookup_operator("SQRT", "Sqrt", _table), float_function("SQRT", "Sqrt"))
