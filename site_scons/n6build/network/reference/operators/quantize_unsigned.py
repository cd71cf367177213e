"""QUANTIZE of what was uint8, as a CONCATENATION does it with inputs of another scale than its output's, in float32."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from n6build.network.reference.lookup import lookup_operator, saturated
from n6build.network.reference.operands import Operands, required_quantisation

# Zero points of int8 are less by so much.
_HALF = 128


def _table(operands: Operands) -> NDArray[np.int8]:
    """Halves away from zero."""
    given, target = required_quantisation(operands.first), required_quantisation(operands.output)
    scale = np.float32(given.scale) * (np.float32(1) / np.float32(target.scale))
    bias = np.float32(-(given.zero_point + _HALF)) * scale
    steps = (np.arange(256).astype(np.float32) * scale + bias).astype(np.float64)
    rounded = np.copysign(np.floor(np.abs(steps) + 0.5), steps)
    return saturated((rounded + target.zero_point).astype(np.float32))


OPERATOR = lookup_operator("QUANTIZE unsigned", "Quantize", _table)
