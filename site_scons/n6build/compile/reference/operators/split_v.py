"""SPLIT_V: parts of given sizes along one dimension, each an output.

Contiguous parts cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from n6build.compile.reference.movement import MOVABLE, Array, Movement, Pair, along, axis_in, integers, known
from n6build.compile.reference.moving_kind import moving
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.rules import INT32, INT64


def _pairs(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    source, sizes, (given,) = known(inputs[0]), integers(operands, 1), integers(operands, 2)
    axis, part = axis_in(given, source.ndim), operands.operator.part
    # One size may be -1: it stands for the rest of the dimension.
    rest = source.shape[axis] - sum(size for size in sizes if size != -1)
    parts = [rest if size == -1 else size for size in sizes]
    if min(parts) < 0 or sum(parts) != source.shape[axis]:
        raise ValueError(f"parts of {sizes}")
    yield Pair(output, along(source, axis, slice(sum(parts[:part]), sum(parts[: part + 1]))))


OPERATOR = moving(
    "SPLIT_V",
    "SplitV",
    Movement(_pairs),
    (MOVABLE, (*INT32, *INT64), INT32),
    constants=(1, 2),
    several_outputs=True,
)
