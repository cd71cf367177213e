"""Way from a picture to a network's input as a C header, n6_picture.h."""

from __future__ import annotations

from collections.abc import Sequence

from n6build.base.errors import N6Error
from n6build.base.paths import TEMPLATES
from n6build.base.templates import render
from n6build.compile.artifacts.description import IoBuffer
from n6build.describe.preprocess import Preprocess

TEMPLATE = TEMPLATES / "n6_picture.h.j2"
_TYPES = {"int8": "int8_t", "uint8": "uint8_t", "float32": "float"}
_IN_A_ROW = 16


def picture_header(inputs: Sequence[IoBuffer], how: Preprocess, model: str) -> str:
    """Return the text of n6_picture.h.

    The compiler refuses the header if a camera's picture cannot be the input, with the reason. Programs without a camera do
    not include it.

    Args:
        inputs: Inputs of the network.
        how: Pre-processing of pictures.
        model: Name of the model.
    """
    import numpy as np  # noqa: PLC0415 - planning makes no header.

    from n6build.compile.quantise.media import picture_shape, real_values  # noqa: PLC0415
    from n6build.compile.quantise.samples import as_stored  # noqa: PLC0415

    port = inputs[0]
    try:
        height, width, channels, planes = picture_shape(port.shape, "a picture of the camera")
        pixels = np.repeat(np.arange(256, dtype=np.uint8)[:, np.newaxis], channels, axis=1)
        real = real_values(pixels, how, "preprocess")
    except N6Error as error:
        return _refused(model, error.what)
    if len(inputs) != 1 or port.type not in _TYPES:
        return _refused(model, "the network needs one input of int8, uint8 or float32")
    if how.resize == "fit":
        return _refused(model, "a camera has no black borders: set preprocess.resize to crop or stretch")
    stored = as_stored(real, port.type, port.scale, port.zero_point).T
    return render(
        TEMPLATE,
        {
            "model": model,
            "why": "",
            "width": width,
            "height": height,
            "channels": channels,
            "planes": planes,
            "bgr": how.colour == "bgr",
            "stretched": how.resize == "stretch",
            "type": _TYPES[port.type],
            "values": [_rows([f"{value:.9g}" for value in channel.tolist()]) for channel in stored],
        },
    )


def _refused(model: str, why: str) -> str:
    return render(TEMPLATE, {"model": model, "why": why})


def _rows(values: Sequence[str]) -> list[str]:
    return [", ".join(values[first : first + _IN_A_ROW]) for first in range(0, len(values), _IN_A_ROW)]
