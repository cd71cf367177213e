"""Pooling over height and width."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from n6build.compile.reference.onnx.building import Building
from n6build.compile.reference.onnx.limits import LimitOptions
from n6build.compile.reference.onnx.node import Node, NodeFamily
from n6build.compile.reference.onnx.nodes.convolution import held_with
from n6build.compile.reference.onnx.nodes.quantising import quantise, target_of
from n6build.compile.reference.onnx.operators.pools import PoolOptions
from n6build.compile.reference.onnx.storage import channels_last
from n6build.compile.reference.onnx.values import Held, Pending, Target, Value
from n6build.compile.reference.onnx.windowing import Windowing, output_sizes, windowing_of


def _image(node: Node, value: Value) -> Held:
    if not isinstance(value, Held) or value.is_float or len(value.shape) != 4:
        hint = "quantise its input, and give it the shape [1, channels, height, width]"
        raise node.error("N6-NET-007", f"its input has the shape {list(value.shape)}, or is not quantised", hint)
    return value


def _windowing(node: Node, given: Held) -> tuple[Windowing, tuple[int, ...]]:
    windowing = windowing_of(node, given.shape[2:], tuple(map(int, node.attributes["kernel_shape"])))
    outside = [
        pad >= size for pad, size in zip((*windowing.before, *windowing.after), windowing.window * 2, strict=True)
    ]
    if any(outside):
        what = f"paddings {windowing.before}, {windowing.after} are as large as its window {windowing.window}"
        raise node.error("N6-NET-007", what, "pad by less than the window")
    return windowing, (*given.shape[:2], *output_sizes(node, windowing, given.shape[2:]))


def _max_pool(node: Node, building: Building) -> Value:
    """Translate a MaxPool.

    It works on integers: the largest ones represent the largest real numbers.
    """
    given = _image(node, node.value(0))
    windowing, shape = _windowing(node, given)
    if max(windowing.dilations) > 1 or len(node.outputs) > 1:
        raise node.error(
            "N6-NET-008", "is dilated, or returns indices", "export it without dilation and without indices"
        )
    return _largest(node, building, given, windowing, shape)


def _global_max_pool(node: Node, building: Building) -> Value:
    given = _image(node, node.value(0))
    windowing = Windowing(given.shape[2:], (1, 1), (1, 1), (0, 0), (0, 0))
    return _largest(node, building, given, windowing, (*given.shape[:2], 1, 1))


def _largest(node: Node, building: Building, given: Held, windowing: Windowing, shape: tuple[int, ...]) -> Held:
    quantisation = given.tensor.quantisation
    if quantisation is None:
        raise node.error("N6-NET-004", "its input has no scale", "quantise the input with QuantizeLinear")
    order = channels_last(4)
    source = building.ordered(given, order)
    options = PoolOptions(-np.inf, np.inf, windowing, counts_padding=False)
    target = Target(node.outputs[0], quantisation, given.unsigned)
    made = building.made("MaxPool", [source.tensor], target, shape, order, options)
    return replace(made, real=given.real)


def _average(node: Node, building: Building, given: Held) -> Pending:
    windowing, shape = _windowing(node, given)
    counts = bool(node.attributes.get("count_include_pad", 0))
    if max(windowing.dilations) > 1 or (counts and node.attributes.get("ceil_mode")):
        what = "is dilated, or has ceil_mode together with count_include_pad"
        raise node.error(
            "N6-NET-008", what, "export it without dilation, and without ceil_mode and count_include_pad together"
        )
    order = channels_last(4)

    def make(target: Target) -> Held:
        source = building.ordered(given, order)
        options = PoolOptions(target.low, target.high, windowing, counts, 128 if target.unsigned else 0)
        return building.made("QLinearAveragePool", [source.tensor], target, shape, order, options)

    return Pending(shape, make)


def _global(building: Building, given: Held) -> Pending:
    shape, order = (*given.shape[:2], 1, 1), channels_last(4)

    def make(target: Target) -> Held:
        source = building.ordered(given, order)
        options = LimitOptions(target.low, target.high)
        return building.made("QLinearGlobalAveragePool", [source.tensor], target, shape, order, options)

    return Pending(shape, make)


def _average_pool(node: Node, building: Building) -> Value:
    return _average(node, building, _image(node, node.quantised(0)))


def _global_average_pool(node: Node, building: Building) -> Value:
    return _global(building, _image(node, node.quantised(0)))


def _qlinear_average_pool(node: Node, building: Building) -> Value:
    """Translate a QLinearAveragePool of com.microsoft.

    Inputs: x, its scale and zero point, scale and zero point of the output.
    """
    pending = _average(node, building, _of_channels_first(node, building))
    return quantise(node, building, pending, target_of(node, 3))


def _qlinear_global_average_pool(node: Node, building: Building) -> Value:
    """Translate a QLinearGlobalAveragePool, with inputs as `_qlinear_average_pool`."""
    pending = _global(building, _of_channels_first(node, building))
    return quantise(node, building, pending, target_of(node, 3))


def _of_channels_first(node: Node, building: Building) -> Held:
    if node.attributes.get("channels_last", 0):
        raise node.error(
            "N6-NET-008", "has its channels last", "convert a model that was not optimised for a processor"
        )
    return _image(node, held_with(node, building, 0))


FAMILY = NodeFamily(
    {
        "MaxPool": _max_pool,
        "GlobalMaxPool": _global_max_pool,
        "AveragePool": _average_pool,
        "GlobalAveragePool": _global_average_pool,
        "QLinearAveragePool": _qlinear_average_pool,
        "QLinearGlobalAveragePool": _qlinear_global_average_pool,
    }
)
