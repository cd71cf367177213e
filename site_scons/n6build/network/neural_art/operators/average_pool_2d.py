"""AVERAGE_POOL_2D: the mean of each whole channel."""

from __future__ import annotations

import math

from n6build.network.neural_art.layer import (
    SIGNED,
    Layer,
    Made,
    NpuOperator,
    StaysOnCpu,
    address,
    begin,
    image_shape,
    require_whole_range,
    scale_of,
    write_output,
)
from n6build.network.neural_art.requantise import as_fraction
from n6build.network.neural_art.streams import Frames, Image, read
from n6build.network.neural_art.units import Pooling, affine, pooling
from n6build.network.reference.operands import required_quantisation
from n6build.network.reference.windows import window_options

_GROUP = 8
# Of the fraction that a mean keeps until it is requantised.
_FRACTION = 8


def _lower(layer: Layer, made: Made) -> None:
    operands = layer.operands
    options = window_options(operands)
    require_whole_range(operands, options.activation)
    height, width, channels = image_shape(operands.source)
    if (options.height, options.width) != (height, width) or operands.padding or operands.output.shape[1:3] != (1, 1):
        raise StaysOnCpu(f"a window of {options.height}x{options.width}: only the whole image was seen")
    if channels % _GROUP:
        raise StaysOnCpu(f"{channels} channels are no multiple of {_GROUP}")
    shift = 15 + math.floor(math.log2(height * width)) - _FRACTION
    factor = round(2.0 ** (shift + _FRACTION) / (height * width))
    if factor > 0x7FFF:
        factor, shift = factor // 2, shift - 1
    source, target = required_quantisation(operands.source), required_quantisation(operands.output)
    real = scale_of(operands.source) / target.scale
    scaled, bits = as_fraction(real)
    epoch = begin(layer, "mean of the image")
    frames = channels // _GROUP
    how = Pooling(10, 0, 1, factor, shift, result=2)
    unit = pooling(epoch, how, width, height, _GROUP, (height + 1, width + 1))
    picture = Image(width, height, _GROUP, channels, width * channels)
    given = Frames(address(layer, SIGNED), picture, count=frames, step=_GROUP, repeat=frames)
    epoch.link(read(epoch, given), unit)
    summand = round((target.zero_point - source.zero_point * real) * 2**bits)
    made_int8 = affine(epoch, scaled, summand, bits, 2, truncated=_FRACTION)
    epoch.link(unit, made_int8)
    write_output(layer, epoch, made_int8, _GROUP, frames)
    made.epochs.append(epoch.done())


NPU_OPERATOR = NpuOperator("AVERAGE_POOL_2D", "average_pool_2d", lambda _: SIGNED, _lower)
