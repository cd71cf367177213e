"""Convolutions whose units read pixels value by value.

Each unit reads some channels. The sums run through chains of units.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from n6build.compile.neural_art.convolving import (
    Sums,
    chained,
    finish,
    in_epochs,
    into_chain,
    kernels_of,
    requantised,
    slices_of,
)
from n6build.compile.neural_art.hardware_epoch import EpochBuilder, Unit
from n6build.compile.neural_art.layer import (
    SIGNED,
    UNSIGNED,
    Layer,
    Made,
    StaysOnCpu,
    address,
    begin,
    image_shape,
    images,
)
from n6build.compile.neural_art.layouts import plain
from n6build.compile.neural_art.requantise import largest_sums
from n6build.compile.neural_art.streams import Frames, Image, read
from n6build.compile.neural_art.units import MOST_COEFFICIENTS, Features, Window, convolution
from n6build.compile.reference.epochs import Address
from n6build.compile.reference.operands import required_quantisation

# Most channels of a pixel that an engine reads if it reads the same image for each frame from one address.
_MOST_REPEATED = 8


@dataclass(frozen=True)
class Units:
    """Units of a convolution.

    Attributes:
        window: Window of the convolution.
        channels: Most channels of a unit.
        kernels: Kernels of a frame.
        longest: Most units of a chain.
        wide: Whether values are signed, of two bytes, and their zero point is subtracted. Other
            values are unsigned.
    """

    window: Window
    channels: int
    kernels: int
    longest: int
    wide: bool

    @property
    def form(self) -> str:
        """Return the form of the image that the units read."""
        return SIGNED if self.wide else UNSIGNED


def in_chains(layer: Layer, made: Made, how: Units) -> None:
    """Append the epochs of a convolution in chains of units.

    Sums of more channels than a chain takes go through memory.

    Raises:
        StaysOnCpu: If the kernels are no multiple of a frame.
    """
    operands = layer.operands
    channels, count = image_shape(operands.source)[2], operands.output.shape[3]
    if count % how.kernels:
        raise StaysOnCpu(f"{count} kernels are no multiple of {how.kernels}")
    kernels = kernels_of(layer, count)
    zero = required_quantisation(operands.source).zero_point
    groups = chained(slices_of(channels, how.channels, even=how.longest > 1), how.longest)
    ends = [(group[0][0], group[-1][1]) for group in groups]
    turned = kernels.weights.transpose(1, 2, 3, 0)
    largest = layer.calibration.largest(
        largest_sums, images(layer, operands.source), turned, how.window.stride, how.window.pads, zero, ends
    )
    parts = in_epochs(layer, count // how.kernels, MOST_COEFFICIENTS // how.kernels, how.kernels)
    for part in parts:
        weights = kernels.weights[part].astype("int8")
        scaling = requantised(layer, largest[part], kernels.scales[part], kernels.biases[part], len(groups))
        sums = Sums(scaling, how.kernels, len(weights), part.start, whole=len(parts) == 1)

        def one(
            group: list[tuple[int, int]], weights: NDArray[np.int8] = weights, shift: int = scaling.first
        ) -> tuple[EpochBuilder, Unit]:
            return _chain(layer, made, how, weights, group, shift)

        finish(layer, made, [lambda group=group: one(group) for group in groups], sums)  # type: ignore[misc]


def _chain(
    layer: Layer, made: Made, how: Units, weights: NDArray[np.int8], group: list[tuple[int, int]], shift: int
) -> tuple[EpochBuilder, Unit]:
    """Return an epoch with a chain for some kernels' weights, and its last unit."""
    operands = layer.operands
    height, width, channels = image_shape(operands.source)
    window = how.window
    share = (group[-1][1] - group[0][0]) * len(weights)
    taps = window.height * window.width
    kind = f"{window.height}x{window.width}, chain of {len(group)}"
    epoch = begin(layer, kind, layer.useful * share // (channels * operands.output.shape[3]))
    epoch.macs = operands.output.elements // operands.output.shape[3] * taps * share
    data = plain(weights, how.kernels, group)
    stream = read(epoch, Frames(made.constant(layer, data), len(data)), constant=True, goes_on=True, signed=how.wide)
    source, frames = address(layer, how.form), len(weights) // how.kernels
    zero = required_quantisation(operands.source).zero_point
    before: Unit | None = None
    for place, (first, end) in enumerate(group):
        given = _whole_image(source, (height, width, channels), first, end, frames)
        features = Features(width, height, end - first)
        if how.wide:
            features = replace(features, signed=True, size=2, zero=zero)
        unit = convolution(epoch, window, features, how.kernels, shift, position=(place, len(group)))
        before = into_chain(epoch, unit, read(epoch, given, signed=how.wide), stream, before)
    assert before is not None
    return epoch, before


def _whole_image(source: Address, shape: tuple[int, int, int], first: int, end: int, frames: int) -> Frames:
    """Return the same image for each frame of kernels.

    Args:
        shape: Height, width and channels.
        first: First channel.
        end: Channel behind the last one.
    """
    height, width, channels = shape
    if end - first == channels:
        elements = height * width * channels
        return Frames(source, elements, count=frames, step=elements, repeat=1)
    picture = Image(width, height, end - first, channels, width * channels)
    address = Address(source.name, source.offset + first)
    if end - first <= _MOST_REPEATED:
        return Frames(address, picture, count=frames, repeat=1)
    return Frames(address, picture, count=frames, step=0, repeat=frames)
