"""Operators of ONNX models as the TFLite operators of the same meaning.

The modules of the operators read these. The two differ in how they round, which the NPU does in its
own way, and in how a file describes the computation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from n6build.compile.neural_art.layer import StaysOnCpu
from n6build.compile.reference.graph import Operator, Tensor
from n6build.compile.reference.onnx.limits import LimitOptions, limited_range
from n6build.compile.reference.onnx.operators.binary import BinaryOptions
from n6build.compile.reference.onnx.operators.pools import PoolOptions
from n6build.compile.reference.onnx.operators.qlinear_conv import ConvOptions, can_wrap
from n6build.compile.reference.onnx.windowing import Windowing
from n6build.compile.reference.operands import Operands, Padding, required_quantisation
from n6build.compile.reference.ranges import ActivationOptions
from n6build.compile.reference.weights import BIAS, WEIGHTS
from n6build.compile.reference.windows import WindowOptions

_DIMENSIONS_OF_IMAGES = 4
_WHOLE_RANGE = {"clamp_min": -128, "clamp_max": 127}

_Options = TypeVar("_Options", bound=LimitOptions)


@dataclass(frozen=True)
class _Meaning:
    """The TFLite meaning of an operator.

    Attributes:
        kernel: Kernel of the reference backend for the operator of TFLite.
        of: Function that returns its operands. It raises StaysOnCpu.
    """

    kernel: str
    of: Callable[[Operands], Operands]


def in_terms_of_tflite(operands: Operands, kernel: str) -> tuple[Operands, str]:
    """Return operands and kernel in terms of TFLite.

    Operators that are not of an ONNX model, or have no counterpart, are returned as they are.

    Args:
        operands: Operator with its tensors.
        kernel: Kernel of the reference backend.

    Raises:
        StaysOnCpu: If no operator of TFLite can express it.
    """
    meaning = _MEANINGS.get((operands.operator.kind, kernel))
    return (meaning.of(operands), meaning.kernel) if meaning else (operands, kernel)


def _as(operands: Operands, kind: str, options: object, padding: Padding | None = None) -> Operands:
    operator = operands.operator
    renamed = Operator(operator.index, kind, operator.inputs, operator.output, options)
    return replace(operands, operator=renamed, padding=padding)


def _without_limits(operands: Operands, kind: type[_Options]) -> _Options:
    """Return the options of an operator, which does not limit its results.

    Raises:
        StaysOnCpu: It limits them.
    """
    options = operands.options(kind)
    members = dict(limited_range(operands.output, options).members)
    if any(members[name] != limit for name, limit in _WHOLE_RANGE.items()):
        raise StaysOnCpu(
            f"its results are limited to {options.low:g} to {options.high:g}, which is more than int8 does: no unit was seen"
        )
    return options


def _window(
    operands: Operands, windowing: Windowing, size: tuple[int, int] = (0, 0)
) -> tuple[WindowOptions, Padding | None]:
    """Return a window's options, and its padding as of a PAD that is taken over.

    Args:
        operands: Operator with its tensors.
        windowing: Window of ONNX.
        size: Height and width of a pooling's window.
    """
    if len(windowing.window) != 2:
        raise StaysOnCpu("a window of one dimension was not seen")
    (stride_h, stride_w), (dilation_h, dilation_w) = windowing.strides, windowing.dilations
    options = WindowOptions("VALID", stride_h, stride_w, dilation_h, dilation_w, *size)
    (top, left), around = windowing.before, (*windowing.before, *windowing.after)
    value = required_quantisation(operands.first).zero_point
    padding = Padding(operands.operator.index, operands.first, top, left, 0, value, pads_channels=False)
    return options, padding if any(around) else None


def _convolution(operands: Operands) -> Operands:
    options = operands.options(ConvOptions)
    if options.groups > 1:
        raise StaysOnCpu(f"a convolution in {options.groups} groups of several channels was not seen")
    _check_sums(operands)
    _without_limits(operands, ConvOptions)
    return _as(operands, "CONV_2D", *_window(operands, options.windowing))


def _depthwise(operands: Operands) -> Operands:
    _check_sums(operands)
    options = _without_limits(operands, ConvOptions)
    window = _window(operands, options.windowing)
    weights, bias = operands.required(WEIGHTS), operands.optional(BIAS)
    changed = replace(operands, inputs=(operands.first, _channels_behind(weights), bias))
    return _as(changed, "DEPTHWISE_CONV_2D", *window)


def _channels_behind(weights: Tensor) -> Tensor:
    """Reorder weights: [channel][height][width][1] -> [1][height][width][channel]."""
    channels, height, width, _ = weights.shape
    assert weights.data is not None
    scales = replace(required_quantisation(weights), axis=3)
    data = weights.data.transpose(3, 1, 2, 0)
    return replace(weights, shape=(1, height, width, channels), data=data, quantisation=scales)


def _check_sums(operands: Operands) -> None:
    """Check that sums fit in 32 bits.

    Raises:
        StaysOnCpu: They can wrap around, which the NPU does not do as onnxruntime does.
    """
    if can_wrap(operands):
        raise StaysOnCpu("its sums can exceed 32 bits")


def _product(operands: Operands) -> Operands:
    _check_sums(operands)
    _without_limits(operands, LimitOptions)
    return _as(operands, "FULLY_CONNECTED", ActivationOptions())


def _sum(operands: Operands) -> Operands:
    _without_limits(operands, BinaryOptions)
    return _as(operands, "ADD", ActivationOptions())


def _largest(operands: Operands) -> Operands:
    options = _without_limits(operands, PoolOptions)
    height, width = options.windowing.window
    return _as(operands, "MAX_POOL_2D", *_window(operands, options.windowing, (height, width)))


def _mean(operands: Operands) -> Operands:
    options = _without_limits(operands, PoolOptions)
    height, width = options.windowing.window
    return _as(operands, "AVERAGE_POOL_2D", *_window(operands, options.windowing, (height, width)))


def _global_mean(operands: Operands) -> Operands:
    _without_limits(operands, LimitOptions)
    if len(operands.first.shape) != _DIMENSIONS_OF_IMAGES:
        raise StaysOnCpu("the mean of anything but an image was not seen")
    _, height, width, _ = operands.first.shape
    return _as(operands, "AVERAGE_POOL_2D", WindowOptions("VALID", 1, 1, height=height, width=width))


_MEANINGS = {
    ("QLinearConv", "qlinear_conv"): _Meaning("conv_2d", _convolution),
    ("QLinearConv", "qlinear_depthwise_conv"): _Meaning("depthwise_conv_2d", _depthwise),
    ("QLinearMatMul", "qlinear_conv"): _Meaning("fully_connected", _product),
    ("QLinearAdd", "qlinear_add"): _Meaning("add", _sum),
    ("MaxPool", "max_pool_2d"): _Meaning("max_pool_2d", _largest),
    ("QLinearAveragePool", "qlinear_average_pool"): _Meaning("average_pool_2d", _mean),
    ("QLinearGlobalAveragePool", "qlinear_global_average_pool"): _Meaning("average_pool_2d", _global_mean),
}
