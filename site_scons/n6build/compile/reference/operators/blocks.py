"""Blocks of height and width that become channels or batches, and back.

Operators:
    BATCH_TO_SPACE_ND: batches become blocks of height and width. Borders of the result are cropped.
    DEPTH_TO_SPACE: channels become square blocks of height and width.
    SPACE_TO_BATCH_ND: blocks of height and width become batches. The image gets a border of real
        value 0.
    SPACE_TO_DEPTH: square blocks of height and width become channels.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import tflite

from n6build.compile.reference.movement import MOVABLE, Array, Pair, integers, known, moving, regrouped
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.paddings import inside, padded, paddings_of, zero_of
from n6build.compile.reference.reference_options import OptionsReader
from n6build.compile.reference.rules import INT32

# Limit on the positions in a block: where borders are padded or cropped, each position is one call of a kernel.
_MAX_PHASES = 400


def _in_blocks(image: Array, block: int) -> Array:
    """Return a view of an NHWC tensor that is divided into square blocks.

    Its dimensions are [batch][row of blocks][row in block][column of blocks][column in
    block][channel].

    Raises:
        ValueError: The height or the width is not a multiple of `block`.
    """
    batch, height, width, channels = image.shape
    return regrouped(image, (batch, height // block, block, width // block, block, channels))


def _phases(
    batches: Array, image: Array, blocks: Sequence[int], before: Sequence[int]
) -> Iterator[tuple[Array, list[tuple[int, int]], Array]]:
    """Yield the matching elements of two tensors for each position in a block.

    Args:
        batches: Tensor whose first dimension holds the positions in a block, with the batches of
            `image` inside.
        image: Tensor that is divided into blocks.
        blocks: Size of a block, by dimension.
        before: Distance of the image's start behind the first block's start in elements, by
            dimension.

    Yields:
        The elements of `batches`, the numbers of them before and behind the image in each
        dimension, and the elements of `image`.

    Raises:
        ValueError: The sizes do not fit together.
    """
    if min(blocks) < 1 or math.prod(blocks) > _MAX_PHASES or len(blocks) >= min(image.ndim, batches.ndim):
        raise ValueError(f"blocks of {blocks}")
    apart = regrouped(batches, (*blocks, image.shape[0], *batches.shape[1:]))
    counts, sizes = batches.shape[1 : len(blocks) + 1], image.shape[1 : len(blocks) + 1]
    for phase in itertools.product(*map(range, blocks)):
        ranges = [_inside(*numbers) for numbers in zip(phase, blocks, before, counts, sizes, strict=True)]
        outside = [(0, 0), *(around for around, _ in ranges), *[(0, 0)] * (image.ndim - len(blocks) - 1)]
        yield apart[phase], outside, image[(slice(None), *(of_image for _, of_image in ranges))]


def _inside(phase: int, block: int, before: int, count: int, size: int) -> tuple[tuple[int, int], slice]:
    """Return the numbers of blocks outside the image, and a slice for the others.

    The numbers count those of `count` blocks whose position `phase` is before or behind the image.
    The slice selects the position of the other blocks in the image.
    """
    first = max(0, -((phase - before) // block))
    start = phase + first * block - before
    inside = max(0, min(count - first, -(-(size - start) // block)))
    return (first, count - first - inside), slice(start, start + inside * block, block)


def _read(table: tflite.DepthToSpaceOptions | tflite.SpaceToDepthOptions) -> int:
    return int(table.BlockSize())


def _batch_to_space(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    befores = [before for before, _ in paddings_of(operands, 2)]
    for part, outside, of_image in _phases(known(inputs[0]), output, integers(operands, 1), befores):
        yield Pair(of_image, inside(part, outside))


def _space_to_batch(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    befores = [before for before, _ in paddings_of(operands, 2)]
    for part, outside, of_image in _phases(output, known(inputs[0]), integers(operands, 1), befores):
        yield from padded(part, of_image, outside, zero_of(operands.output))


def _depth_to_space(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    block = operands.options(int)
    target = _in_blocks(output, block)
    batch, height, _, width, _, channels = target.shape
    source = regrouped(known(inputs[0]), (batch, height, width, block, block, channels))
    yield Pair(target.transpose(0, 1, 3, 2, 4, 5), source)


def _space_to_depth(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    block = operands.options(int)
    source = _in_blocks(known(inputs[0]), block)
    batch, height, _, width, _, channels = source.shape
    target = regrouped(output, (batch, height, width, block, block, channels))
    yield Pair(target, source.transpose(0, 1, 3, 2, 4, 5))


_BATCHES = (MOVABLE, INT32, INT32)
_DEPTH_TO_SPACE = OptionsReader(tflite.DepthToSpaceOptions, _read)
_SPACE_TO_DEPTH = OptionsReader(tflite.SpaceToDepthOptions, _read)
OPERATORS = (
    moving("BATCH_TO_SPACE_ND", "BatchToSpaceNd", _batch_to_space, _BATCHES, constants=(1, 2)),
    moving("DEPTH_TO_SPACE", "DepthToSpace", _depth_to_space, (MOVABLE,), options=_DEPTH_TO_SPACE),
    moving("SPACE_TO_BATCH_ND", "SpaceToBatchNd", _space_to_batch, _BATCHES, constants=(1, 2)),
    moving("SPACE_TO_DEPTH", "SpaceToDepth", _space_to_depth, (MOVABLE,), options=_SPACE_TO_DEPTH),
)
