"""AVERAGE_POOL_2D: the mean of each whole channel."""

from __future__ import annotations

from n6build.compile.neural_art.averaging import mean_of_image
from n6build.compile.neural_art.layer import (
    SIGNED,
    Layer,
    Made,
    NpuOperator,
    StaysOnCpu,
    image_shape,
    require_whole_range,
)
from n6build.compile.reference.windows import window_options


def _lower(layer: Layer, made: Made) -> None:
    operands = layer.operands
    options = window_options(operands)
    require_whole_range(operands, options.activation)
    size = image_shape(operands.source)[:2]
    if (options.height, options.width) != size or operands.padding or operands.output.shape[1:3] != (1, 1):
        raise StaysOnCpu(f"a window of {options.height}x{options.width}: only the whole image was seen")
    mean_of_image(layer, made)


NPU_OPERATOR = NpuOperator("AVERAGE_POOL_2D", "average_pool_2d", lambda _: SIGNED, _lower)
