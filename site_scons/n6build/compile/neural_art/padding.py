"""Padding as a convolution of 1x1 with weight 1.

The frame of the convolution has the value of the padding. It is an epoch of its own, or in front of
another unit.
"""

from __future__ import annotations

from dataclasses import dataclass

from n6build.compile.neural_art.hardware_epoch import EpochBuilder, Unit
from n6build.compile.neural_art.layer import Layer, Made, begin
from n6build.compile.neural_art.streams import Frames, Image, read, write
from n6build.compile.neural_art.units import Features, Window, convolution, identity
from n6build.compile.reference.epochs import Address


@dataclass(frozen=True)
class Around:
    """An image and its padding.

    Attributes:
        shape: Height, width and channels of the image.
        pads: Padding at top, bottom, left and right.
        value: Value of the padding.
    """

    shape: tuple[int, int, int]
    pads: tuple[int, int, int, int]
    value: int

    @property
    def size(self) -> tuple[int, int]:
        """Return height and width with the padding."""
        top, bottom, left, right = self.pads
        return self.shape[0] + top + bottom, self.shape[1] + left + right


def begin_padding(
    layer: Layer, made: Made, source: Address, around: Around, kind: str = "pad"
) -> tuple[EpochBuilder, Unit]:
    """Begin an epoch that pads an image.

    Args:
        layer: Layer that gets the epoch.
        made: Results that get the weights.
        source: Address of the int8 image.
        around: Shape and padding of the image.
        kind: Description for people.

    Returns:
        The epoch, which lacks its end, and the unit with the padded image, channel by channel.
    """
    height, width, channels = around.shape
    tall, wide = around.size
    epoch = begin(layer, kind, 0)
    ones = made.constant(layer, bytes([1]) * channels)
    stream = read(epoch, Frames(ones, channels), constant=True, goes_on=True)
    if channels == 1:
        given = Frames(source, height * width, repeat=1)
    else:
        image = Image(width, height, 1, channels, width * channels)
        given = Frames(source, image, count=channels, repeat=1, repeat_step=1)
    features = Features(width, height, 1, signed=True, fill=around.value)
    unit = convolution(epoch, Window(1, 1, 1, around.pads), features, 1, 0, result=1)
    epoch.link(read(epoch, given), unit)
    epoch.link(stream, unit, 1)
    epoch.macs = tall * wide * channels
    return epoch, unit


def to_write(epoch: EpochBuilder, image: Unit) -> Unit:
    """Add a unit that copies the image of `begin_padding` to an engine."""
    same = identity(epoch)
    epoch.link(image, same)
    return same


def padded(
    layer: Layer,
    made: Made,
    source: Address,
    shape: tuple[int, int, int],
    pads: tuple[int, int, int, int],
    value: int,
) -> Address:
    """Return a buffer with the padded image.

    Args:
        layer: Layer that gets the epoch.
        made: Results that get the epoch and the buffer.
        source: Address of the int8 image.
        shape: As in `Around`.
        pads: As in `Around`.
        value: As in `Around`.
    """
    around = Around(shape, pads, value)
    channels = shape[2]
    tall, wide = around.size
    place = made.temporary(layer, tall * wide * channels)
    epoch, image = begin_padding(layer, made, source, around)
    if channels == 1:
        result = Frames(place, tall * wide)
    else:
        long_line = wide * channels
        result = Frames(
            place,
            Image(wide, tall, 1, channels, long_line),
            count=channels,
            step=1,
            repeat=channels,
            repeat_step=tall * long_line,
        )
    write(epoch, result, to_write(epoch, image))
    made.epochs.append(epoch.done())
    return place
