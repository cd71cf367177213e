"""Means of whole channels of an image.

AVERAGE_POOL_2D has a window as large as the image, MEAN the dimensions of height and width.
"""

from __future__ import annotations

import math

import numpy as np

from n6build.compile.neural_art.layer import (
    SIGNED,
    ZERO_OF_UNSIGNED,
    Layer,
    Made,
    NpuOperator,
    StaysOnCpu,
    address,
    begin,
    image_shape,
    output_quantisation,
    require_whole_range,
    scale_of,
    write_output,
)
from n6build.compile.neural_art.requantise import as_fraction, lifted
from n6build.compile.neural_art.streams import Frames, Image, read
from n6build.compile.neural_art.units import Pooling, affine, pooling
from n6build.compile.reference.operands import required_quantisation
from n6build.compile.reference.operators.reductions import reduction_of
from n6build.compile.reference.windows import window_options

_GROUP = 8
# Bits of the fraction that a mean keeps until it is requantised.
_FRACTION = 8


def _mean_of_image(layer: Layer, made: Made) -> None:
    """Append the epoch that makes the mean of each channel of the signed input.

    Raises:
        StaysOnCpu: If the channels are no multiple of 8.
    """
    source = layer.operands.source
    height, width, channels = image_shape(source)
    if channels % _GROUP:
        raise StaysOnCpu(f"{channels} channels are no multiple of {_GROUP}")
    shift = 15 + math.floor(math.log2(height * width)) - _FRACTION
    factor = round(2.0 ** (shift + _FRACTION) / (height * width))
    if factor > 0x7FFF:
        factor, shift = factor // 2, shift - 1
    target = output_quantisation(layer)
    real = scale_of(source) / target.scale
    scaled, bits = as_fraction(real)
    epoch = begin(layer, "mean of the image")
    frames = channels // _GROUP
    how = Pooling(10, 0, 1, factor, shift, result=2)
    unit = pooling(epoch, how, width, height, _GROUP, (height + 1, width + 1))
    picture = Image(width, height, _GROUP, channels, width * channels)
    given = Frames(address(layer, SIGNED), picture, count=frames, step=_GROUP, repeat=frames)
    epoch.link(read(epoch, given), unit)
    offset = target.zero_point - required_quantisation(source).zero_point * real
    if layer.twice and target.zero_point == ZERO_OF_UNSIGNED:
        offset += float(lifted(np.array([real]), math.floor(math.log2(height * width)))[0])
    summand = round(offset * 2**bits)
    made_int8 = affine(epoch, scaled, summand, bits, 2, truncated=_FRACTION)
    epoch.link(unit, made_int8)
    write_output(layer, epoch, made_int8, _GROUP, frames)
    made.epochs.append(epoch.done())


def _pool(layer: Layer, made: Made) -> None:
    operands = layer.operands
    options = window_options(operands)
    require_whole_range(operands, options.activation)
    size = image_shape(operands.source)[:2]
    if (options.height, options.width) != size or operands.padding or operands.output.shape[1:3] != (1, 1):
        raise StaysOnCpu(f"a window of {options.height}x{options.width}: only the whole image was seen")
    _mean_of_image(layer, made)


def _mean(layer: Layer, made: Made) -> None:
    source = layer.operands.source
    height, width, channels = image_shape(source)
    reduction = reduction_of(layer.operands)
    if (reduction.count, reduction.inner) != (height * width, channels) or len(source.shape) != 4:
        raise StaysOnCpu("a mean over other dimensions than height and width of an image was not seen")
    _mean_of_image(layer, made)


NPU_OPERATORS = (
    NpuOperator("AVERAGE_POOL_2D", "average_pool_2d", lambda _: SIGNED, _pool),
    NpuOperator("MEAN", "sum", lambda _: SIGNED, _mean),
)
