"""Convolutions of 1x1 and fully connected layers: deep mode, sixteen kernels a frame, up to 128 channels a unit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from n6build.network.neural_art.convolving import (
    CHAIN,
    Sums,
    chained,
    finish,
    into_chain,
    kernels_of,
    requantised,
    slices_of,
)
from n6build.network.neural_art.hardware_epoch import EpochBuilder, Unit
from n6build.network.neural_art.layer import ZERO_OF_UNSIGNED, Layer, Made, StaysOnCpu, begin, image_shape
from n6build.network.neural_art.layouts import deep, deep_set_bytes
from n6build.network.neural_art.requantise import Floats, largest_sums
from n6build.network.neural_art.streams import Frames, read
from n6build.network.neural_art.units import MOST_COEFFICIENTS, Features, Window, convolution
from n6build.network.reference.epochs import Address
from n6build.network.reference.operands import required_quantisation

_FRAME = 16
_CHANNELS = 128
# What a value is away from its zero point, on average, at most: a channel that the calibration hardly moves may still move.
_EXPECTED = 60


def pointwise(layer: Layer, made: Made, source: Address, values: NDArray[np.int8]) -> None:
    """source: of the unsigned input, pixel by pixel. values: of the calibration: vectors x height x width x channels."""
    operands = layer.operands
    height, width, count = image_shape(operands.output)
    channels = values.shape[-1]
    pixels = height * width
    kernels = kernels_of(layer, count)
    weights = kernels.weights.reshape(count, channels)
    units = -(-channels // _CHANNELS)
    if channels % units:
        raise StaysOnCpu(f"{channels} channels cannot be cut evenly for units that take {_CHANNELS}")
    if pixels > 1 and units > 1:
        raise StaysOnCpu(f"{channels} channels of several pixels: at most {_CHANNELS} were seen")
    if pixels > 1 and count % _FRAME:
        raise StaysOnCpu(f"{count} kernels are no multiple of {_FRAME}")
    groups = chained(slices_of(channels, channels // units), CHAIN)
    ends = [(group[0][0], group[-1][1]) for group in groups]
    largest = largest_sums(values, weights.T[None, None], 1, (0, 0, 0, 0), ZERO_OF_UNSIGNED, ends)
    if pixels == 1:
        expected = np.abs(weights).sum(1) * float(_EXPECTED)
        largest = np.maximum(largest, np.minimum(expected, largest.max()))
    # The units sum up unsigned values; what these differ from the zero point by belongs to the bias.
    zero = required_quantisation(operands.source).zero_point
    biases = kernels.biases - (zero - ZERO_OF_UNSIGNED) * weights.sum(1)
    whole = -(-count // _FRAME) * _FRAME
    step = min(whole, MOST_COEFFICIENTS)
    if whole % step:
        raise StaysOnCpu(f"{count} kernels are no multiple of {step}")
    all_weights = np.zeros((whole, channels), np.int8)
    all_weights[:count] = weights
    largest = _filled(largest, whole, 1.0)
    scales = _filled(kernels.scales, whole, float(kernels.scales.min()))
    biases = _filled(biases, whole, 0.0)
    for first in range(0, whole, step):
        part = slice(first, first + step)
        how = requantised(layer, largest[part], scales[part], biases[part], len(groups))
        sums = Sums(how, _FRAME, step, first, whole=step == whole)
        some = all_weights[part]

        def one(
            group: list[tuple[int, int]],
            some: NDArray[np.int8] = some,
            shift: int = how.first,
            step: int = step,
        ) -> tuple[EpochBuilder, Unit]:
            share = (group[-1][1] - group[0][0]) * step
            epoch = begin(layer, f"1x1 deep, chain of {len(group)}", layer.useful * share // (channels * whole))
            epoch.macs = pixels * share
            return epoch, _chain(layer, made, epoch, source, some, group, pixels=(height, width), shift=shift)

        finish(layer, made, [lambda group=group: one(group) for group in groups], sums)  # type: ignore[misc]


def _chain(
    layer: Layer,
    made: Made,
    epoch: EpochBuilder,
    source: Address,
    weights: NDArray[np.int8],
    group: list[tuple[int, int]],
    *,
    pixels: tuple[int, int],
    shift: int,
) -> Unit:
    """The last unit. weights: kernels x channels."""
    height, width = pixels
    frames = len(weights) // _FRAME
    depth = group[0][1] - group[0][0]
    size = deep_set_bytes(_FRAME, depth)
    sets = Frames(
        made.constant(layer, deep(weights, _FRAME, group)), size // 3, size=3, count=frames * len(group), step=size
    )
    stream = read(epoch, sets, constant=True, goes_on=True)
    before: Unit | None = None
    for place, (first, _) in enumerate(group):
        frame = Frames(
            Address(source.name, source.offset + first),
            -(-height * width * depth // 3),
            size=3,
            count=frames,
            step=0,
            repeat=frames,
        )
        unit = convolution(
            epoch,
            Window(1, 1),
            Features(width, height, depth),
            _FRAME,
            shift,
            position=(place, len(group)),
            deep=True,
        )
        before = into_chain(epoch, unit, read(epoch, frame, bytewise=True), stream, before)
    assert before is not None
    return before


def _filled(values: Floats, count: int, with_value: float) -> Floats:
    return np.concatenate([values, np.full(count - len(values), with_value)])
