"""Depthwise convolutions as ordinary convolutions of groups of channels.

The kernels of a group are zero for all but their own channel.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from n6build.compile.neural_art.hardware_epoch import EpochBuilder, Unit
from n6build.compile.neural_art.layer import Layer, Made
from n6build.compile.neural_art.layouts import inflated
from n6build.compile.neural_art.streams import Frames, Image, read
from n6build.compile.neural_art.units import Features, Window, convolution
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
