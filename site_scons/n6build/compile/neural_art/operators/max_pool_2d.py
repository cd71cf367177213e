"""MAX_POOL_2D: channel by channel.

The padding of the image is in the same epoch.
"""

from __future__ import annotations

from n6build.compile.neural_art.layer import (
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
from n6build.compile.neural_art.padding import Around, begin_padding
from n6build.compile.neural_art.streams import Frames, Image, read
from n6build.compile.neural_art.units import Pooling, pooling
from n6build.compile.reference.windows import window_options

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
    source, kind = address(layer, SIGNED), f"max pool {options.height}x{options.width}"
    if any(pads):
        around = Around((height, width, channels), pads, _LEAST)
        epoch, image = begin_padding(layer, made, source, around, f"{kind}, padded")
        height, width = around.size
    else:
        epoch = begin(layer, kind)
        picture = Image(width, height, 1, channels, width * channels)
        image = read(epoch, Frames(source, picture, count=channels, repeat=1, repeat_step=1))
    how = Pooling(0, options.height, options.stride_h)
    unit = pooling(epoch, how, width, height, 1, (rows, columns))
    epoch.link(image, unit)
    write_output(layer, epoch, unit, 1, channels)
    made.epochs.append(epoch.done())


NPU_OPERATORS = (NpuOperator("MAX_POOL_2D", "max_pool_2d", lambda _: SIGNED, _lower),)
