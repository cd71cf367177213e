"""Blocks of height and width that become channels or batches, and back."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from n6build.compile.reference.movement import Array, regrouped

# Limit on the positions in a block: where borders are padded or cropped, each position is one call of a kernel.
_MAX_PHASES = 400


def in_blocks(image: Array, block: int) -> Array:
    """Return a view of an NHWC tensor that is divided into square blocks.

    Its dimensions are [batch][row of blocks][row in block][column of blocks][column in
    block][channel].

    Raises:
        ValueError: The height or the width is not a multiple of `block`.
    """
    batch, height, width, channels = image.shape
    return regrouped(image, (batch, height // block, block, width // block, block, channels))


def phases(
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
