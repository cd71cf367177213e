"""TILE: the input repeated along each dimension."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from n6build.compile.reference.movement import MOVABLE, Array, Movement, Pair, integers, known, regrouped
from n6build.compile.reference.moving_kind import moving
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.rules import INT32, INT64


def _pairs(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    source, times = known(inputs[0]), integers(operands, 1)
    both = [each for pair in zip(times, source.shape, strict=True) for each in pair]
    apart = regrouped(source, [each for size in source.shape for each in (1, size)])
    yield Pair(regrouped(output, both), np.broadcast_to(apart, both))


OPERATOR = moving("TILE", "Tile", Movement(_pairs), (MOVABLE, (*INT32, *INT64)), constants=(1,))
