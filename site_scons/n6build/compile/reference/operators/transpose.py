"""TRANSPOSE: dimensions in another order; moving one of size 1 costs nothing."""

from __future__ import annotations

from collections.abc import Iterator

from n6build.compile.reference.movement import MOVABLE, Array, Movement, Pair, integers, known
from n6build.compile.reference.moving_kind import moving
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.rules import INT32


def _pairs(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    yield Pair(output, known(inputs[0]).transpose(integers(operands, 1)))


OPERATOR = moving("TRANSPOSE", "Transpose", Movement(_pairs), (MOVABLE, INT32), constants=(1,))
