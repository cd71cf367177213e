"""SLICE: one part of each dimension; a contiguous part costs nothing."""

from __future__ import annotations

from collections.abc import Iterator

from n6build.compile.reference.movement import MOVABLE, Array, Movement, Pair, integers, known
from n6build.compile.reference.moving_kind import moving
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.rules import INT32, INT64


def _pairs(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    begins, sizes = integers(operands, 1), integers(operands, 2)
    if min(begins) < 0 or len(begins) != len(operands.first.shape):
        raise ValueError
    # A size of -1 stands for the rest of the dimension.
    ends = [None if size == -1 else begin + size for begin, size in zip(begins, sizes, strict=True)]
    yield Pair(output, known(inputs[0])[tuple(map(slice, begins, ends))])


OPERATOR = moving("SLICE", "Slice", Movement(_pairs), (MOVABLE, (*INT32, *INT64), (*INT32, *INT64)), constants=(1, 2))
