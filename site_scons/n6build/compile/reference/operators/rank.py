"""RANK: the number of dimensions, known when the network is compiled."""

from __future__ import annotations

import numpy as np

from n6build.compile.reference.known_values import known_value
from n6build.compile.reference.movement import MOVABLE, Array
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.rules import INT32


def _value(operands: Operands) -> Array:
    return np.array(len(operands.first.shape), np.int32)


OPERATOR = known_value("RANK", "Rank", _value, (MOVABLE,), INT32)
