"""MEAN: the mean over height and width of an image."""

from __future__ import annotations

from n6build.compile.neural_art.averaging import mean_of_image
from n6build.compile.neural_art.layer import SIGNED, Layer, Made, NpuOperator, StaysOnCpu, image_shape
from n6build.compile.reference.reductions import reduction_of


def _lower(layer: Layer, made: Made) -> None:
    source = layer.operands.source
    height, width, channels = image_shape(source)
    reduction = reduction_of(layer.operands)
    if (reduction.count, reduction.inner) != (height * width, channels) or len(source.shape) != 4:
        raise StaysOnCpu("a mean over other dimensions than height and width of an image was not seen")
    mean_of_image(layer, made)


NPU_OPERATOR = NpuOperator("MEAN", "sum", lambda _: SIGNED, _lower)
