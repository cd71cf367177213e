"""BROADCAST_TO: the input, repeated along dimensions of size 1."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from n6build.compile.reference.movement import MOVABLE, Array, Movement, Pair, integers, known
from n6build.compile.reference.moving_kind import moving
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.rules import INT32, INT64


def _pairs(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    yield Pair(output, np.broadcast_to(known(inputs[0]), integers(operands, 1)))


OPERATOR = moving("BROADCAST_TO", "BroadcastTo", Movement(_pairs), (MOVABLE, (*INT32, *INT64)), constants=(1,))
