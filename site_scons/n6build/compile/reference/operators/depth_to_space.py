"""DEPTH_TO_SPACE: channels become square blocks of height and width."""

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
    target = in_blocks(output, block)
    batch, height, _, width, _, channels = target.shape
    source = regrouped(known(inputs[0]), (batch, height, width, block, block, channels))
    yield Pair(target.transpose(0, 1, 3, 2, 4, 5), source)


OPERATOR = moving(
    "DEPTH_TO_SPACE",
    "DepthToSpace",
    Movement(_pairs),
    (MOVABLE,),
    options=OptionsReader(
        tflite.DepthToSpaceOptions, tflite.BuiltinOptions.DepthToSpaceOptions, lambda table: int(table.BlockSize())
    ),
)
