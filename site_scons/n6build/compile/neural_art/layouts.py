"""Weights in the order in which the convolution units read them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# Kernels of a group in deep mode.
_TOGETHER = 8
# Bytes of an element of a stream.
_ELEMENT = 3

Weights = NDArray[np.int8]


def plain(weights: Weights, frame: int, slices: Sequence[tuple[int, int]]) -> bytes:
    """Return weights for units that read pixels value by value.

    For each frame, then for each unit, the order is kernel, row, column, channel.

    Args:
        weights: Kernels x height x width x channels.
        frame: Kernels of a frame.
        slices: Channels of each unit of the chain.
    """
    frames = range(0, weights.shape[0], frame)
    return b"".join(
        weights[first : first + frame, :, :, begin:end].tobytes() for first in frames for begin, end in slices
    )


def deep(weights: Weights, frame: int, slices: Sequence[tuple[int, int]]) -> bytes:
    """Return weights for units in deep mode.

    Each frame and unit has a set: groups of eight kernels, channel by channel. Each set ends on a
    whole element.

    Args:
        weights: Kernels x channels.
        frame: Kernels of a frame.
        slices: Channels of each unit of the chain.
    """
    sets = []
    for first in range(0, weights.shape[0], frame):
        for begin, end in slices:
            groups = range(first, first + frame, _TOGETHER)
            data = b"".join(weights[group : group + _TOGETHER, begin:end].T.tobytes() for group in groups)
            sets.append(data + bytes(-len(data) % _ELEMENT))
    return b"".join(sets)


def deep_set_bytes(frame: int, channels: int) -> int:
    """Return the bytes of one set in deep mode."""
    return -(-frame * channels // _ELEMENT) * _ELEMENT


def inflated(weights: Weights, group: int) -> bytes:
    """Return the weights of a depthwise convolution as ordinary kernels.

    A kernel has zeros for all channels but its own.

    Args:
        weights: Height x width x channels.
        group: Channels of a kernel.
    """
    height, width, channels = weights.shape
    kernels = np.zeros((channels // group, group, height, width, group), np.int8)
    for channel in range(channels):
        kernels[channel // group, channel % group, :, :, channel % group] = weights[:, :, channel]
    return kernels.tobytes()


def in_rows(weights: Weights, frame: int, rows: int, columns: int) -> tuple[bytes, tuple[int, ...]]:
    """Return weights of one channel, cut into units, and each unit's first row.

    A unit has rows x columns, with zeros where the kernel is narrower or a row is in the unit
    before. For each frame, then for each unit, the order is kernel, row, column.

    Args:
        weights: Kernels x height x width.
        frame: Kernels of a frame.
        rows: Rows of a unit.
        columns: Columns of a unit.
    """
    count, height, width = weights.shape
    units = -(-height // rows)
    starts = (*(rows * unit for unit in range(units - 1)), height - rows)
    parts = np.zeros((units, count, rows, columns), np.int8)
    done = 0
    for unit, start in enumerate(starts):
        skipped = max(0, done - start)
        parts[unit, :, skipped:, :width] = weights[:, start + skipped : start + rows]
        done = start + rows
    frames = range(0, count, frame)
    data = b"".join(parts[unit, first : first + frame].tobytes() for first in frames for unit in range(units))
    return data, starts
