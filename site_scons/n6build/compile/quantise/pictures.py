"""Pictures as inputs of a network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from n6build.base.errors import N6Error
from n6build.base.pictures import open_pictures
from n6build.describe.preprocess import Preprocess

_CHANNELS = {1: "L", 3: "RGB"}


def read_picture(path: Path, shape: Sequence[int], how: Preprocess) -> NDArray[np.float32]:
    """Return a picture in the shape of an input.

    Args:
        path: A PNG or JPEG file.
        shape: Shape of the input, with channels first or last.
        how: Pre-processing.

    Raises:
        N6Error: N6-QUANT-014 if the file is damaged; N6-QUANT-005 if the input is no picture.
    """
    height, width, channels, first = picture_shape(shape, path.name)
    try:
        picture = next(open_pictures(path)).convert(_CHANNELS[channels])
    except N6Error as error:
        what = f"cannot be read as a picture: {error.what}"
        raise N6Error("N6-QUANT-014", what, where=path.name, hint="save it again as PNG, or remove it") from error
    values = np.asarray(_resized(picture, (width, height), how)).reshape(height, width, channels)
    if how.colour == "bgr":
        values = values[..., ::-1]
    mean, deviation = (
        _each(numbers, usual, channels, path.name) for numbers, usual in ((how.mean, 0), (how.deviation, 1))
    )
    real = (values * np.float32(how.scale) - mean) / deviation
    return np.ascontiguousarray(real.transpose(2, 0, 1) if first else real, np.float32)


def _resized(picture: Image.Image, size: tuple[int, int], how: Preprocess) -> Image.Image:
    if picture.size == size:
        return picture
    method = Image.Resampling.BILINEAR
    if how.resize == "crop":
        return ImageOps.fit(picture, size, method)
    return ImageOps.pad(picture, size, method) if how.resize == "fit" else picture.resize(size, method)


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
    if len(row) == 3 and row[2] in _CHANNELS:
        return row[0], row[1], row[2], False
    if len(row) == 3 and row[0] in _CHANNELS:
        return row[1], row[2], row[0], True
    what = f"is a picture, but the input has the shape {' x '.join(map(str, shape))}"
    raise N6Error("N6-QUANT-005", what, where=where, hint="give the values as a .npy file")
