"""Padding as epochs of their own: a convolution of 1x1 with weight 1, whose frame has the value of the padding."""

from __future__ import annotations

from n6build.network.neural_art.layer import Layer, Made, begin
from n6build.network.neural_art.streams import Frames, Image, read, write
from n6build.network.neural_art.units import Features, Window, convolution, identity
from n6build.network.reference.epochs import Address


def padded(
    layer: Layer,
    made: Made,
    source: Address,
    shape: tuple[int, int, int],
    pads: tuple[int, int, int, int],
    value: int,
) -> Address:
    """A buffer with the padded image. source: int8. shape: height, width, channels, of the source. pads: top, bottom, left,
    right."""
    height, width, channels = shape
    top, bottom, left, right = pads
    tall, wide = height + top + bottom, width + left + right
    place = made.temporary(layer, tall * wide * channels)
    epoch = begin(layer, "pad", 0)
    ones = made.constant(layer, bytes([1]) * channels)
    stream = read(epoch, Frames(ones, channels), constant=True, goes_on=True)
    if channels == 1:
        given = Frames(source, height * width, repeat=1)
        result = Frames(place, tall * wide)
    else:
        line, long_line = width * channels, wide * channels
        given = Frames(source, Image(width, height, 1, channels, line), count=channels, repeat=1, repeat_step=1)
        result = Frames(
            place,
            Image(wide, tall, 1, channels, long_line),
            count=channels,
            step=1,
            repeat=channels,
            repeat_step=tall * long_line,
        )
    features = Features(width, height, 1, signed=True, fill=value)
    unit = convolution(epoch, Window(1, 1, 1, pads), features, 1, 0, result=1)
    epoch.link(read(epoch, given), unit)
    epoch.link(stream, unit, 1)
    same = identity(epoch)
    epoch.link(unit, same)
    write(epoch, result, same)
    epoch.macs = tall * wide * channels
    made.epochs.append(epoch.done())
    return place
