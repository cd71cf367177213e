"""Inputs of a network as pictures: what is left of them in its size and type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from n6build.base.errors import N6Error
from n6build.base.pictures import require_pillow, tiled
from n6build.compile.artifacts.description import IoBuffer
from n6build.describe.preprocess import Preprocess
from n6build.place.memory_plan.vectors import read_vectors, rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Values = NDArray[np.floating[Any]]

_MOST, _COLUMNS = 9, 3
# Pixels of the shorter side: a smaller input is no picture, and a picture is enlarged to the second number.
_LEAST, _SHOWN = 8, 96
_LARGEST = 480
_MARGIN = 2
_WHITE = 255.0
# Pixels outside 0 to 255, which shows that another pre-processing made the values.
_STRAYS, _TOLERANCE = 0.01, 4.0
_NUMPY_TYPES = {"int8": "i1", "uint8": "u1", "float32": "<f4"}


@dataclass(frozen=True)
class Seen:
    """Inputs of a network as a picture.

    Attributes:
        png: The picture.
        shown: Number of inputs in it.
        count: Number of inputs.
        text: Size and type of an input.
    """

    png: bytes
    shown: int
    count: int
    text: str


def seen_inputs(file: Path, ports: Sequence[IoBuffer], how: Preprocess) -> Seen | None:
    """Return the inputs in a file as a picture.

    None if they are no pictures, or Pillow is missing.

    Args:
        file: Inputs in the types of the ports, with a row for each inference.
        ports: Inputs of the network.
        how: Pre-processing of the inputs, which is undone here.
    """
    import numpy as np  # noqa: PLC0415 - planning draws nothing.

    start = 0
    try:
        require_pillow()
        vectors = read_vectors(file)
        for port in ports:
            size = _picture_size(port)
            if size and vectors.bytes_each == sum(each.bytes for each in ports):
                parts = [row[start : start + port.bytes] for row in rows(vectors)[:_MOST]]
                values = [np.frombuffer(part, _NUMPY_TYPES[port.type]).astype(np.float64) for part in parts]
                planes = [_planes(port.scale * (each - port.zero_point), size) for each in values]
                text = f"{size[1]} x {size[0]} pixels, {port.type}"
                return Seen(_drawn(_pixels(planes, how), how), len(planes), vectors.count, text)
            start += port.bytes
    except N6Error:
        # The report shows a build, which does not fail for want of a picture.
        pass
    return None


def _picture_size(port: IoBuffer) -> tuple[int, int, int, bool] | None:
    """Return height, width and channels, and whether channels are first.

    None for an input that is no picture.
    """
    from n6build.compile.quantise.media import picture_shape  # noqa: PLC0415 - needs NumPy.

    try:
        size = picture_shape(port.shape, port.name)
    except N6Error:
        return None
    return size if min(size[:2]) >= _LEAST and port.type in _NUMPY_TYPES else None


def _planes(values: Values, size: tuple[int, int, int, bool]) -> Values:
    """Return values as height x width x channels."""
    height, width, channels, first = size
    return values.reshape(channels, height, width).transpose(1, 2, 0) if first else values.reshape(size[:3])


def _pixels(planes: Sequence[Values], how: Preprocess) -> Values:
    """Return pixels from 0 to 255 of all inputs.

    Values of another pre-processing, such as features of a sound, are spread between black and white.
    """
    import numpy as np  # noqa: PLC0415

    values = np.stack(planes)
    pixels = values
    if how.scale and len(how.mean) in (0, 1, values.shape[-1]) and len(how.deviation) in (0, 1, values.shape[-1]):
        pixels = (values * np.asarray(how.deviation or [1]) + np.asarray(how.mean or [0])) / how.scale
    pixels = pixels[..., ::-1] if how.colour == "bgr" else pixels
    outside = ((pixels < -_TOLERANCE) | (pixels > _WHITE + _TOLERANCE)).mean()
    if outside > _STRAYS or pixels.max() - pixels.min() < _LEAST or how.sound.features != "samples":
        low, high = values.min(), values.max()
        pixels = (values - low) * (_WHITE / max(high - low, 1e-12))
    return pixels


def _drawn(pixels: Values, how: Preprocess) -> bytes:
    import numpy as np  # noqa: PLC0415

    pillow = require_pillow()
    drawn = []
    for each in np.rint(pixels.clip(0, _WHITE)).astype(np.uint8):
        # Time goes to the right, and the bands of a sound upwards.
        plane = each.transpose(1, 0, 2)[::-1] if how.sound.features != "samples" else each
        picture = pillow.Image.fromarray(np.repeat(plane, 3, -1) if plane.shape[-1] == 1 else plane)
        factor = max(1, -(-_SHOWN // min(picture.size)))
        picture = picture.resize((picture.width * factor, picture.height * factor), pillow.Image.Resampling.NEAREST)
        picture.thumbnail((_LARGEST, _LARGEST))
        drawn.append(pillow.ImageOps.expand(picture, _MARGIN, "white"))
    return tiled(drawn, _COLUMNS)
