"""Every second pixel of every second line, for 1x1 convolutions of stride 2.

It needs an epoch of its own, since no strided reader was ever seen.
"""

from __future__ import annotations

import numpy as np

from n6build.compile.neural_art.depthwise import GROUP, depthwise_unit
from n6build.compile.neural_art.layer import Layer, Made, StaysOnCpu, begin, image_shape
from n6build.compile.neural_art.padding import padded
from n6build.compile.neural_art.streams import Frames, Image, write
from n6build.compile.neural_art.units import Window, minus_128, plus_128
from n6build.compile.reference.epochs import Address

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
