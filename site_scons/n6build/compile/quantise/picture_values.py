"""Values of pictures as inputs of a network."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from n6build.base.errors import N6Error
from n6build.describe.preprocess import Preprocess

# Number of channels -> mode of Pillow.
CHANNELS = {1: "L", 3: "RGB"}


def real_values(values: NDArray[np.uint8], how: Preprocess, where: str) -> NDArray[np.float32]:
    """Return the real values of pixels.

    Args:
        values: Pixels; the last axis has the channels in the network's order.
        how: Pre-processing.
        where: Place of the pre-processing, for messages.

    Raises:
        N6Error: N6-QUANT-005 if `preprocess` is for another number of channels.
    """
    mean, deviation = (
        _each(numbers, usual, values.shape[-1], where) for numbers, usual in ((how.mean, 0), (how.deviation, 1))
    )
    return np.asarray((values * np.float32(how.scale) - mean) / deviation, np.float32)


def _each(numbers: Sequence[float], usual: float, channels: int, where: str) -> NDArray[np.float32]:
    if len(numbers) not in (0, 1, channels):
        what = f"preprocess has {len(numbers)} numbers for {channels} channels"
        raise N6Error("N6-QUANT-005", what, where=where, hint="write one number, or one for each channel")
    return np.asarray(numbers or [usual], np.float32)


def picture_shape(shape: Sequence[int], where: str) -> tuple[int, int, int, bool]:
    """Return height, width and channels of an input, and whether channels are first.

    Raises:
        N6Error: N6-QUANT-005 if the input is no picture of one or three channels.
    """
    row = tuple(shape[1:]) if len(shape) == 4 else tuple(shape)
    if len(row) == 2 and row[0] > 1:
        row = (*row, 1)
    if len(row) == 3 and row[2] in CHANNELS:
        return row[0], row[1], row[2], False
    if len(row) == 3 and row[0] in CHANNELS:
        return row[1], row[2], row[0], True
    what = f"is a picture, but the input has the shape {' x '.join(map(str, shape))}"
    raise N6Error("N6-QUANT-005", what, where=where, hint="give the values as a .npy file")
