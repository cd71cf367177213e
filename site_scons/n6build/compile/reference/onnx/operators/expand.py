"""Expand: the input repeated along dimensions of size 1."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from n6build.compile.reference.movement import MOVABLE, Array, Movement, Pair, known
from n6build.compile.reference.moving_kind import moving
from n6build.compile.reference.operands import Operands


def _pairs(_: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    yield Pair(output, np.broadcast_to(known(inputs[0]), output.shape))


OPERATOR = moving("Expand", "Expand", Movement(_pairs), (MOVABLE,))
