"""SPACE_TO_DEPTH: square blocks of height and width become channels."""

from __future__ import annotations

from collections.abc import Iterator

import tflite

from n6build.compile.reference.blocks import in_blocks
from n6build.compile.reference.movement import MOVABLE, Array, Movement, Pair, known, regrouped
from n6build.compile.reference.moving_kind import moving
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.reference_options import OptionsReader


def _pairs(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    block = operands.operator.options
    assert isinstance(block, int)
    source = in_blocks(known(inputs[0]), block)
    batch, height, _, width, _, channels = source.shape
    target = regrouped(output, (batch, height, width, block, block, channels))
    yield Pair(target, source.transpose(0, 1, 3, 2, 4, 5))


OPERATOR = moving(
    "SPACE_TO_DEPTH",
    "SpaceToDepth",
    Movement(_pairs),
    (MOVABLE,),
    options=OptionsReader(
        tflite.SpaceToDepthOptions, tflite.BuiltinOptions.SpaceToDepthOptions, lambda table: int(table.BlockSize())
    ),
)
