"""Padding: a convolution of 1x1 with weight 1, whose frame has the value of the padding; as an epoch of its own, or in front of
another unit."""

from __future__ import annotations

from dataclasses import dataclass

from n6build.network.neural_art.hardware_epoch import EpochBuilder, Unit
from n6build.network.neural_art.layer import Layer, Made, begin
from n6build.network.neural_art.streams import Frames, Image, read, write
from n6build.network.neural_art.units import Features, Window, convolution, identity
from n6build.network.reference.epochs import Address


@dataclass(frozen=True)
class Around:
    """shape: height, width, channels, of the image. pads: top, bottom, left, right. value: of the padding."""

    shape: tuple[int, int, int]
    pads: tuple[int, int, int, int]
    value: int

    @property
    def size(self) -> tuple[int, int]:
        """Height and width with the padding."""
        top, bottom, left, right = self.pads
        return self.shape[0] + top + bottom, self.shape[1] + left + right


def begin_padding(
    layer: Layer, made: Made, source: Address, around: Around, kind: str = "pad"
) -> tuple[EpochBuilder, Unit]:
    """An epoch that lacks its end, and the padded image, channel by channel. source: int8."""
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
    """The same as the last unit in front of an engine. image: of `begin_padding`."""
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
    """A buffer with the padded image. source: int8. shape, pads, value: as of `Around`."""
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
