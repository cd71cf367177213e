"""DEPTHWISE_CONV_2D: 3x3, one output channel for each input channel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from n6build.compile.neural_art.convolving import Sums, finish, in_epochs, kernels_of, requantised, seen_3x3
from n6build.compile.neural_art.hardware_epoch import EpochBuilder, Unit
from n6build.compile.neural_art.layer import (
    UNSIGNED,
    ZERO_OF_UNSIGNED,
    Layer,
    Made,
    NpuOperator,
    StaysOnCpu,
    address,
    begin,
    image_shape,
    images,
    require_whole_range,
)
from n6build.compile.neural_art.padding import GROUP, depthwise_unit, group_of
from n6build.compile.neural_art.requantise import largest_depthwise_sums, possible_sums
from n6build.compile.neural_art.units import MOST_COEFFICIENTS
from n6build.compile.reference.epochs import Address
from n6build.compile.reference.operands import required_quantisation
from n6build.compile.reference.weights import WEIGHTS
from n6build.compile.reference.windows import window_options


def _lower(layer: Layer, made: Made) -> None:
    operands = layer.operands
    options = window_options(operands)
    _, rows, columns, count = operands.required(WEIGHTS).shape
    shape = image_shape(operands.source)
    channels = shape[2]
    require_whole_range(operands, options.activation)
    if (rows, columns) != (3, 3):
        raise StaysOnCpu(f"a depthwise {rows}x{columns}: only 3x3 was seen")
    window = seen_3x3(layer)
    if count != channels or channels % GROUP:
        raise StaysOnCpu(f"{count} channels of {channels}: as many as before, in groups of {GROUP}, were seen")
    if required_quantisation(operands.source).zero_point != ZERO_OF_UNSIGNED:
        raise StaysOnCpu("a depthwise convolution whose input has another zero point than -128 was not seen")
    kernels = kernels_of(layer, count)
    weights = kernels.weights[0]
    values = images(layer, operands.source)
    largest = layer.calibration.largest(
        largest_depthwise_sums, values, weights, window.stride, window.pads, ZERO_OF_UNSIGNED
    )
    possible = possible_sums(weights)
    whole = address(layer, UNSIGNED)
    # A layer that is cut into as many epochs as possible, each of at least two frames, would have too many with small groups.
    group = GROUP if layer.apart else group_of(window.stride, shape[1])
    parts = in_epochs(layer, count // group, MOST_COEFFICIENTS // group, group)
    for part in parts:
        some = weights[..., part].astype("int8")
        of_kernels = (kernels.scales[part], kernels.biases[part])
        how = requantised(layer, largest[part], *of_kernels, possible=possible[part])
        source = Address(whole.name, whole.offset + part.start)

        def one(
            some: NDArray[np.int8] = some, source: Address = source, shift: int = how.first
        ) -> tuple[EpochBuilder, Unit]:
            taken = some.shape[2]
            epoch = begin(layer, "depthwise 3x3", layer.useful * taken // count)
            epoch.macs = operands.output.elements // count * taken * rows * columns * group
            return epoch, depthwise_unit(layer, made, epoch, source, some, window, shift, group, shape)

        finish(layer, made, [one], Sums(how, group, some.shape[2], part.start, whole=len(parts) == 1))


NPU_OPERATORS = (NpuOperator("DEPTHWISE_CONV_2D", "depthwise_conv_2d", lambda _: UNSIGNED, _lower),)
