"""Convolutions that stand for other work: padding, depthwise, every second pixel.

Padding as a convolution of 1x1 with weight 1. The frame of the convolution has the value of the
padding. It is an epoch of its own, or in front of another unit.

Depthwise convolutions as ordinary convolutions of groups of channels. The kernels of a group are
zero for all but their own channel.

Every second pixel of every second line, for 1x1 convolutions of stride 2. It needs an epoch of its
own, since no strided reader was ever seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from n6build.compile.neural_art.hardware_epoch import EpochBuilder, Unit
from n6build.compile.neural_art.layer import Layer, Made, StaysOnCpu, begin, image_shape
from n6build.compile.neural_art.layouts import inflated
from n6build.compile.neural_art.streams import Frames, Image, read, write
from n6build.compile.neural_art.units import Features, Window, convolution, identity, minus_128, plus_128
from n6build.compile.reference.epochs import Address

# Channels of a group, which are the kernels of a frame.
GROUP = 8
# With stride 1: fewest pixels of an image's lines, and channels of a group. A smaller group reads and multiplies fewer zeros.
_WITH_STRIDE_1 = ((16, 4), (9, GROUP), (4, 1))


def group_of(stride: int, width: int) -> int:
    """Return the channels of a group, as ST's compiler was seen to choose them.

    Args:
        stride: Stride of the window.
        width: Width of the image.
    """
    if stride > 1:
        return GROUP
    return next((group for least, group in _WITH_STRIDE_1 if width >= least), GROUP)


def depthwise_unit(
    layer: Layer,
    made: Made,
    epoch: EpochBuilder,
    source: Address,
    weights: NDArray[np.int8],
    window: Window,
    shift: int,
    group: int,
    shape: tuple[int, int, int],
) -> Unit:
    """Add the units of a depthwise convolution and return the last one.

    Args:
        layer: Layer with the convolution.
        made: Results that get the kernels.
        epoch: Epoch that gets the units.
        source: Address of the unsigned image, from the first channel on that is taken.
        weights: Weights of the taken channels, height x width x channels.
        window: Window of the convolution.
        shift: Shift of the sums.
        group: Channels of a frame.
        shape: Height, width and channels of the whole image.
    """
    height, width, channels = shape
    data = inflated(weights, group)
    stream = read(epoch, Frames(made.constant(layer, data), len(data)), constant=True, goes_on=True)
    frames = weights.shape[2] // group
    picture = Image(width, height, group, channels, width * channels)
    given = read(epoch, Frames(source, picture, count=frames, step=group, repeat=frames))
    unit = convolution(epoch, window, Features(width, height, group), group, shift)
    epoch.link(given, unit)
    epoch.link(stream, unit, 1)
    return unit


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


# Value of a padding that nothing reads. This value was seen.
_FILL = -128


def every_second(layer: Layer, made: Made, source: Address) -> Address:
    """Return a buffer with every second pixel of the unsigned source.

    It is made by a depthwise 3x3 of stride 2 whose first weight is 1.

    Raises:
        StaysOnCpu: If the channels are no multiple of 8.
    """
    if source in made.thinned:
        return made.thinned[source]
    height, width, channels = image_shape(layer.operands.source)
    rows, columns, _ = image_shape(layer.operands.output)
    if channels % GROUP:
        raise StaysOnCpu(f"{channels} channels are no multiple of {GROUP}")
    weights = np.zeros((3, 3, channels), np.int8)
    weights[0, 0] = 1
    place = made.temporary(layer, rows * columns * channels)
    # At most one line and column beyond the image were seen. So an odd image is made even before.
    odd = (0, height % 2, 0, width % 2)
    unpadded = source
    if any(odd):
        source = padded(layer, made, source, (height, width, channels), odd, _FILL)
    shape = (height + height % 2, width + width % 2, channels)
    pads = (0, 2 * rows + 1 - shape[0], 0, 2 * columns + 1 - shape[1])
    epoch = begin(layer, "every second pixel", 0)
    last = depthwise_unit(layer, made, epoch, source, weights, Window(3, 3, 2, pads), 0, GROUP, shape)
    signed = minus_128(epoch)
    epoch.link(last, signed)
    unsigned = plus_128(epoch)
    epoch.link(signed, unsigned)
    picture = Image(columns, rows, GROUP, channels, columns * channels)
    frames = channels // GROUP
    result = Frames(place, picture, count=frames, step=GROUP, repeat=frames, repeat_step=rows * columns * channels)
    write(epoch, result, unsigned)
    epoch.macs = rows * columns * 9 * GROUP * channels
    made.epochs.append(epoch.done())
    made.thinned[unpadded] = place
    return place
