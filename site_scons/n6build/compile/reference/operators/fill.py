"""FILL: one constant in every element.

The shape is known when the network is compiled.
"""

from __future__ import annotations

import numpy as np

from n6build.compile.reference.known_values import known_value
from n6build.compile.reference.movement import MAX_FOLDED, MOVABLE, Array
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.rules import INT32, INT64


def _value(operands: Operands) -> Array | None:
    shape, value = operands.first.data, operands.required(1)
    if shape is None or value.data is None or value.elements != 1 or value.dtype != operands.output.dtype:
        return None
    if operands.output.bytes > MAX_FOLDED or tuple(shape.reshape(-1).tolist()) != operands.output.shape:
        return None
    return np.full(operands.output.shape, value.data.reshape(-1)[0])


OPERATOR = known_value("FILL", "Fill", _value, ((*INT32, *INT64), MOVABLE), MOVABLE)
