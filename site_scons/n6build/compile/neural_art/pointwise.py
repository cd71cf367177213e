"""Convolutions of 1x1 and fully connected layers in deep mode.

A frame has 16 or 24 kernels, a unit up to 128 channels. For each frame of kernels the input is read
once more. A unit that has all channels reads them packed. Of several units, each reads its channels
of a pixel from a new element of three bytes on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from n6build.compile.neural_art.convolving import (
    CHAIN,
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
from n6build.compile.neural_art.layer import ZERO_OF_UNSIGNED, Layer, Made, StaysOnCpu, begin, image_shape
from n6build.compile.neural_art.layouts import deep, deep_set_bytes
from n6build.compile.neural_art.requantise import Floats, largest_sums
from n6build.compile.neural_art.streams import Frames, Image, read
from n6build.compile.neural_art.units import MOST_COEFFICIENTS, Features, Window, convolution
from n6build.compile.reference.epochs import Address
from n6build.compile.reference.operands import required_quantisation

# Kernels of a frame. With more of them, the input is read less often.
_FRAMES = (24, 16)
# Bytes of the largest sets that were seen: of a unit that has all channels, and of one of several.
_LARGEST_SET, _LARGEST_SHARED_SET = 2048, 3072
# Most frames of kernels in an epoch.
_MOST_FRAMES = 16
# Most channels of a unit, and fewest channels of one of several.
_CHANNELS, _LEAST_CHANNELS = 128, 32
# Bytes of a stream's element.
_ELEMENT = 3
# Upper limit of the average distance of a value from its zero point. A channel that the calibration hardly moves may still
# move.
_EXPECTED = 60


@dataclass(frozen=True)
class _Input:
    """An unsigned image, pixel by pixel."""

    address: Address
    width: int
    height: int
    channels: int

    def is_packed(self, channels: int) -> bool:
        """Return whether so many channels of all pixels are consecutive."""
        return channels == self.channels or self.width * self.height == 1

    def frames(self, first: int, end: int, count: int) -> Frames:
        """Return channels first to end, for each of `count` frames of kernels."""
        address = Address(self.address.name, self.address.offset + first)
        elements: int | Image
        if self.is_packed(end - first):
            elements = -(-self.width * self.height * (end - first) // _ELEMENT)
        else:
            depth = -(-(end - first) // _ELEMENT)
            elements = Image(self.width, self.height, depth, self.channels, self.width * self.channels)
        return Frames(address, elements, size=_ELEMENT, count=count, step=0, repeat=count)


def pointwise(layer: Layer, made: Made, source: Address, values: NDArray[np.int8]) -> None:
    """Append the epochs of a convolution of 1x1.

    Args:
        layer: Layer with the convolution.
        made: Results that get the epochs.
        source: Address of the unsigned input, pixel by pixel.
        values: Values of the calibration, vectors x height x width x channels.
    """
    operands = layer.operands
    height, width, count = image_shape(operands.output)
    channels = values.shape[-1]
    pixels = height * width
    kernels = kernels_of(layer, count)
    weights = kernels.weights.reshape(count, channels)
    units, frame = _shape(channels, count, filled=pixels == 1)
    groups = chained(slices_of(channels, channels // units), CHAIN)
    ends = [(group[0][0], group[-1][1]) for group in groups]
    largest = layer.calibration.largest(
        largest_sums, values, weights.T[None, None], 1, (0, 0, 0, 0), ZERO_OF_UNSIGNED, ends
    )
    if pixels == 1:
        expected = np.abs(weights).sum(1) * float(_EXPECTED)
        largest = np.maximum(largest, np.minimum(expected, largest.max()))
    # The units sum up unsigned values. Their difference from the zero point belongs to the bias.
    zero = required_quantisation(operands.source).zero_point
    biases = kernels.biases - (zero - ZERO_OF_UNSIGNED) * weights.sum(1)
    whole = -(-count // frame) * frame
    parts = in_epochs(layer, whole // frame, min(_MOST_FRAMES, MOST_COEFFICIENTS // frame), frame)
    all_weights = np.zeros((whole, channels), np.int8)
    all_weights[:count] = weights
    largest = _filled(largest, whole, 1.0)
    scales = _filled(kernels.scales, whole, float(kernels.scales.min()))
    biases = _filled(biases, whole, 0.0)
    image = _Input(source, width, height, channels)
    for part in parts:
        some = all_weights[part]
        how = requantised(layer, largest[part], scales[part], biases[part], len(groups))
        sums = Sums(how, frame, len(some), part.start, whole=len(parts) == 1)

        def one(
            group: list[tuple[int, int]], some: NDArray[np.int8] = some, shift: int = how.first
        ) -> tuple[EpochBuilder, Unit]:
            share = (group[-1][1] - group[0][0]) * len(some)
            epoch = begin(layer, f"1x1 deep, chain of {len(group)}", layer.useful * share // (channels * whole))
            epoch.macs = pixels * share
            return epoch, _chain(layer, made, epoch, image, some, group, frame=frame, shift=shift)

        finish(layer, made, [lambda group=group: one(group) for group in groups], sums)  # type: ignore[misc]


def _shape(channels: int, count: int, *, filled: bool) -> tuple[int, int]:
    """Return the number of units and the kernels of a frame.

    All units take the same number of channels.

    Args:
        filled: Whether there may be kernels of zeros behind the last one.
    """
    least, most = -(-channels // _CHANNELS), max(1, channels // _LEAST_CHANNELS)
    for units in range(least, most + 1):
        largest = _LARGEST_SET if units == 1 else _LARGEST_SHARED_SET
        for frame in _FRAMES:
            fits = channels % units == 0 and frame * channels // units <= largest
            if fits and (count % frame == 0 or (filled and frame == _FRAMES[-1])):
                return units, frame
    what = f"{count} kernels of {channels} channels cannot be cut evenly"
    raise StaysOnCpu(
        f"{what}: frames of 16 or 24 were seen, for units that take {_LEAST_CHANNELS} to {_CHANNELS} channels"
    )


def _chain(
    layer: Layer,
    made: Made,
    epoch: EpochBuilder,
    image: _Input,
    weights: NDArray[np.int8],
    group: list[tuple[int, int]],
    *,
    frame: int,
    shift: int,
) -> Unit:
    """Add a chain for weights of kernels x channels and return its last unit."""
    frames = len(weights) // frame
    depth = group[0][1] - group[0][0]
    size = deep_set_bytes(frame, depth)
    data = deep(weights, frame, group)
    sets = Frames(made.constant(layer, data), size // _ELEMENT, size=_ELEMENT, count=frames * len(group), step=size)
    stream = read(epoch, sets, constant=True, goes_on=True)
    before: Unit | None = None
    for place, (first, end) in enumerate(group):
        unit = convolution(
            epoch,
            Window(1, 1),
            Features(image.width, image.height, depth, packed=image.is_packed(depth)),
            frame,
            shift,
            position=(place, len(group)),
            deep=True,
        )
        before = into_chain(epoch, unit, read(epoch, image.frames(first, end, frames), bytewise=True), stream, before)
    assert before is not None
    return before


def _filled(values: Floats, count: int, with_value: float) -> Floats:
    return np.concatenate([values, np.full(count - len(values), with_value)])
