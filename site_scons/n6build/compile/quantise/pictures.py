"""Pictures as inputs of a network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from n6build.base.errors import N6Error
from n6build.base.pictures import open_pictures
from n6build.compile.quantise.picture_values import CHANNELS, picture_shape, real_values
from n6build.describe.preprocess import Preprocess


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
        picture = next(open_pictures(path)).convert(CHANNELS[channels])
    except N6Error as error:
        what = f"cannot be read as a picture: {error.what}"
        raise N6Error("N6-QUANT-014", what, where=path.name, hint=f"{error.hint}, or remove it") from error
    values = np.asarray(_resized(picture, (width, height), how)).reshape(height, width, channels)
    if how.colour == "bgr":
        values = values[..., ::-1]
    real = real_values(values, how, path.name)
    return np.ascontiguousarray(real.transpose(2, 0, 1) if first else real, np.float32)


def _resized(picture: Image.Image, size: tuple[int, int], how: Preprocess) -> Image.Image:
    if picture.size == size:
        return picture
    method = Image.Resampling.BILINEAR
    if how.resize == "crop":
        return ImageOps.fit(picture, size, method)
    return ImageOps.pad(picture, size, method) if how.resize == "fit" else picture.resize(size, method)
