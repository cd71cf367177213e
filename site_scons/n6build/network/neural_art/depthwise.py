"""Depthwise convolutions: groups of channels, each with ordinary kernels that are zero for all but their own channel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from n6build.network.neural_art.hardware_epoch import EpochBuilder, Unit
from n6build.network.neural_art.layer import Layer, Made
from n6build.network.neural_art.layouts import inflated
from n6build.network.neural_art.streams import Frames, Image, read
from n6build.network.neural_art.units import Features, Window, convolution
from n6build.network.reference.epochs import Address

# Channels of a group, and kernels of a frame; and those of images whose lines have at least so many pixels, with stride 1: the
# fewer, the fewer zeros are read and multiplied.
GROUP = 8
_WITH_STRIDE_1 = ((16, 4), (9, GROUP), (4, 1))


def group_of(stride: int, width: int) -> int:
    """As ST's compiler was seen to take them. width: of the image."""
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
    """source: unsigned, from the first channel on that is taken. shape: height, width, channels of all of it. weights: height x
    width x channels, those that are taken. shift: of the sums. group: channels of a frame."""
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
