"""Part: the elements that a Slice or one output of a Split takes.

Its options are a slice for each dimension.
"""

from __future__ import annotations

from collections.abc import Iterator

from n6build.compile.reference.movement import MOVABLE, Array, Movement, Pair, known
from n6build.compile.reference.moving_kind import moving
from n6build.compile.reference.operands import Operands


def _pairs(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    slices = operands.operator.options
    assert isinstance(slices, tuple)
    yield Pair(output, known(inputs[0])[slices])


OPERATOR = moving("Part", "Part", Movement(_pairs), (MOVABLE,))
