"""PAD of height and width, in one epoch.

It is used if no operator behind the PAD takes it over.
"""

from __future__ import annotations

from n6build.compile.neural_art.layer import (
    SIGNED,
    Layer,
    Made,
    NpuOperator,
    StaysOnCpu,
    address,
    image_shape,
    write_output,
)
from n6build.compile.neural_art.padding import Around, begin_padding, to_write
from n6build.compile.reference.operators.pad import padding_of
from n6build.compile.reference.paddings import paddings_of

# Most lines or columns of padding, and most lines and columns of the image.
_MOST_AROUND, _HIGHEST, _WIDEST = 6, 128, 64


def _lower(layer: Layer, made: Made) -> None:
    padding = padding_of(layer.operands)
    if padding is None or padding.pads_channels:
        raise StaysOnCpu("a padding of more than height and width was not seen")
    _, (top, bottom), (left, right), _ = paddings_of(layer.operands)
    shape = image_shape(layer.operands.source)
    if max(top, bottom, left, right) > _MOST_AROUND or shape[0] > _HIGHEST or shape[1] > _WIDEST or padding.value == 0:
        raise StaysOnCpu("such a padding, or of such an image, was not seen")
    around = Around(shape, (top, bottom, left, right), padding.value)
    epoch, image = begin_padding(layer, made, address(layer, SIGNED), around)
    write_output(layer, epoch, to_write(epoch, image), 1, shape[2])
    made.epochs.append(epoch.done())


NPU_OPERATORS = (NpuOperator("PAD", "pad", lambda _: SIGNED, _lower),)
