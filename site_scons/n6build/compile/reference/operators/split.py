"""SPLIT: equal parts along one dimension, each an output.

Contiguous parts cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from n6build.compile.reference.movement import MOVABLE, Array, Movement, Pair, along, axis_in, integers, known
from n6build.compile.reference.moving_kind import moving
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.rules import INT32


def _pairs(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    (given,), source = integers(operands, 0), known(inputs[1])
    axis = axis_in(given, source.ndim)
    begin = operands.operator.part * output.shape[axis]
    yield Pair(output, along(source, axis, slice(begin, begin + output.shape[axis])), 1)


OPERATOR = moving("SPLIT", "Split", Movement(_pairs), (INT32, MOVABLE), constants=(0,), source=1, several_outputs=True)
