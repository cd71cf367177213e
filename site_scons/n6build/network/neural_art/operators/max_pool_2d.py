"""MAX_POOL_2D: channel by channel; padding is an epoch before."""

from __future__ import annotations

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
    windows_pads,
    write_output,
)
from n6build.network.neural_art.padding import padded
from n6build.network.neural_art.streams import Frames, Image, read
from n6build.network.neural_art.units import Pooling, pooling
from n6build.network.reference.windows import window_options

_LEAST = -128


def _lower(layer: Layer, made: Made) -> None:
    operands = layer.operands
    options = window_options(operands)
    require_whole_range(operands, options.activation)
    if options.height != options.width or options.stride_h != options.stride_w:
        raise StaysOnCpu(f"a window of {options.height}x{options.width}: only square ones were seen")
    height, width, channels = image_shape(operands.source)
    rows, columns, _ = image_shape(operands.output)
    pads = windows_pads(operands, options, options.height, options.width)
    source = address(layer, SIGNED)
    if any(pads):
        source = padded(layer, made, source, (height, width, channels), pads, _LEAST)
        height, width = height + pads[0] + pads[1], width + pads[2] + pads[3]
    epoch = begin(layer, f"max pool {options.height}x{options.width}")
    how = Pooling(0, options.height, options.stride_h)
    unit = pooling(epoch, how, width, height, 1, (rows, columns))
    picture = Image(width, height, 1, channels, width * channels)
    epoch.link(read(epoch, Frames(source, picture, count=channels, repeat=1, repeat_step=1)), unit)
    write_output(layer, epoch, unit, 1, channels)
    made.epochs.append(epoch.done())


NPU_OPERATOR = NpuOperator("MAX_POOL_2D", "max_pool_2d", lambda _: SIGNED, _lower)
