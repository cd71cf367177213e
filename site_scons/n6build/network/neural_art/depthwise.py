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

# Channels of a group, and kernels of a frame.
GROUP = 8


def depthwise_unit(
    layer: Layer,
    made: Made,
    epoch: EpochBuilder,
    source: Address,
    weights: NDArray[np.int8],
    window: Window,
    shift: int,
    shape: tuple[int, int, int],
) -> Unit:
    """source: unsigned, from the first channel on that is taken. shape: height, width, channels of all of it. weights: height x
    width x channels, those that are taken. shift: of the sums."""
    height, width, channels = shape
    data = inflated(weights, GROUP)
    stream = read(epoch, Frames(made.constant(layer, data), len(data)), constant=True, goes_on=True)
    frames = weights.shape[2] // GROUP
    picture = Image(width, height, GROUP, channels, width * channels)
    given = read(epoch, Frames(source, picture, count=frames, step=GROUP, repeat=frames))
    unit = convolution(epoch, window, Features(width, height, GROUP), GROUP, shift)
    epoch.link(given, unit)
    epoch.link(stream, unit, 1)
    return unit
