"""SPACE_TO_BATCH_ND: blocks of height and width become batches.

The image gets a border of real value 0.
"""

from __future__ import annotations

from collections.abc import Iterator

from n6build.compile.reference.blocks import phases
from n6build.compile.reference.movement import MOVABLE, Array, Movement, Pair, integers, known
from n6build.compile.reference.moving_kind import moving
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.paddings import padded, paddings_of, zero_of
from n6build.compile.reference.rules import INT32


def _pairs(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    befores = [before for before, _ in paddings_of(operands, 2)]
    for part, outside, of_image in phases(output, known(inputs[0]), integers(operands, 1), befores):
        yield from padded(part, of_image, outside, zero_of(operands.output))


OPERATOR = moving("SPACE_TO_BATCH_ND", "SpaceToBatchNd", Movement(_pairs), (MOVABLE, INT32, INT32), constants=(1, 2))
