"""SHAPE: the sizes of a tensor, known when the network is compiled."""

from __future__ import annotations

import numpy as np

from n6build.compile.reference.known_values import known_value
from n6build.compile.reference.movement import MOVABLE, Array
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.rules import INT32, INT64


def _value(operands: Operands) -> Array:
    return np.array(operands.first.shape, operands.output.dtype)


OPERATOR = known_value("SHAPE", "Shape", _value, (MOVABLE,), (*INT32, *INT64))
