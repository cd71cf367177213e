"""QUANTIZE for models of uint8, in float32.

A CONCATENATION of uint8 needs it for inputs with another scale than its output's.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from n6build.compile.reference.lookup import lookup_operator, saturated
from n6build.compile.reference.operands import Operands, required_quantisation

# A zero point of int8 is less than that of uint8 by this number.
_HALF = 128


def _table(operands: Operands) -> NDArray[np.int8]:
    """Return the table; halves round away from zero."""
    given, target = required_quantisation(operands.first), required_quantisation(operands.output)
    scale = np.float32(given.scale) * (np.float32(1) / np.float32(target.scale))
    bias = np.float32(-(given.zero_point + _HALF)) * scale
    steps = (np.arange(256).astype(np.float32) * scale + bias).astype(np.float64)
    rounded = np.copysign(np.floor(np.abs(steps) + 0.5), steps)
    return saturated((rounded + target.zero_point).astype(np.float32))


OPERATOR = lookup_operator("QUANTIZE unsigned", "Quantize", _table)
