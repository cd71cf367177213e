"""Blocks of height and width that become channels or batches, and back."""

from __future__ import annotations

from n6build.network.reference.movement import Array, regrouped


def in_blocks(image: Array, block: int) -> Array:
    """[batch][row of blocks][row in it][column of blocks][column in it][channel] of an NHWC tensor. Raises ValueError for
    sizes that are no multiples of `block`."""
    batch, height, width, channels = image.shape
    return regrouped(image, (batch, height // block, block, width // block, block, channels))
