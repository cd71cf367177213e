"""BATCH_TO_SPACE_ND: batches become blocks of height and width.

Borders of the result are cropped.
"""

from __future__ import annotations

from collections.abc import Iterator

from n6build.compile.reference.blocks import phases
from n6build.compile.reference.movement import MOVABLE, Array, Movement, Pair, integers, known
from n6build.compile.reference.moving_kind import moving
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.paddings import inside, paddings_of
from n6build.compile.reference.rules import INT32


def _pairs(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    crops = paddings_of(operands, 2)
    befores = [before for before, _ in crops]
    for part, outside, of_image in phases(known(inputs[0]), output, integers(operands, 1), befores):
        yield Pair(of_image, inside(part, outside))


OPERATOR = moving("BATCH_TO_SPACE_ND", "BatchToSpaceNd", Movement(_pairs), (MOVABLE, INT32, INT32), constants=(1, 2))
