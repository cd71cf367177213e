"""Blocks of height and width that become channels or batches, and back."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from n6build.network.reference.movement import Array, regrouped

# Each is a call of a kernel where borders are padded or cropped.
_MAX_PHASES = 400


def in_blocks(image: Array, block: int) -> Array:
    """[batch][row of blocks][row in it][column of blocks][column in it][channel] of an NHWC tensor. Raises ValueError for
    sizes that are no multiples of `block`."""
    batch, height, width, channels = image.shape
    return regrouped(image, (batch, height // block, block, width // block, block, channels))


def phases(
    batches: Array, image: Array, blocks: Sequence[int], before: Sequence[int]
) -> Iterator[tuple[Array, list[tuple[int, int]], Array]]:
    """For each position in a block: those elements of `batches`, how many of them lie before and behind the image in each
    dimension, and those elements of `image`.

    batches: a tensor whose first dimension holds the positions, the batches of `image` inside. before: by dimension, how far the
    image begins behind the first block's start. Raises ValueError where they do not fit together."""
    if min(blocks) < 1 or math.prod(blocks) > _MAX_PHASES or len(blocks) >= min(image.ndim, batches.ndim):
        raise ValueError(f"blocks of {blocks}")
    apart = regrouped(batches, (*blocks, image.shape[0], *batches.shape[1:]))
    counts, sizes = batches.shape[1 : len(blocks) + 1], image.shape[1 : len(blocks) + 1]
    for phase in itertools.product(*map(range, blocks)):
        ranges = [_inside(*numbers) for numbers in zip(phase, blocks, before, counts, sizes, strict=True)]
        outside = [(0, 0), *(around for around, _ in ranges), *[(0, 0)] * (image.ndim - len(blocks) - 1)]
        yield apart[phase], outside, image[(slice(None), *(of_image for _, of_image in ranges))]


def _inside(phase: int, block: int, before: int, count: int, size: int) -> tuple[tuple[int, int], slice]:
    """How many of `count` blocks have their position `phase` before and behind the image, and where the others have it there."""
    first = max(0, -((phase - before) // block))
    start = phase + first * block - before
    inside = max(0, min(count - first, -(-(size - start) // block)))
    return (first, count - first - inside), slice(start, start + inside * block, block)
