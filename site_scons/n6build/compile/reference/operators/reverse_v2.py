"""REVERSE_V2: elements in reverse order along any dimensions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from n6build.compile.reference.movement import MOVABLE, Array, Movement, Pair, axis_in, integers, known
from n6build.compile.reference.moving_kind import moving
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.rules import INT32


def _pairs(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    source = known(inputs[0])
    axes = {axis_in(axis, source.ndim) for axis in integers(operands, 1)}
    yield Pair(output, np.flip(source, tuple(axes)))


OPERATOR = moving("REVERSE_V2", "Reverse", Movement(_pairs), (MOVABLE, INT32), constants=(1,))
