"""Normalisations and PRelu: constants for each channel, in float32."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from n6build.compile.reference.graph import Tensor
from n6build.compile.reference.onnx.building import Building
from n6build.compile.reference.onnx.limits import LimitOptions
from n6build.compile.reference.onnx.node import Node, NodeFamily
from n6build.compile.reference.onnx.operators.norms import NormOptions
from n6build.compile.reference.onnx.real import can_be_real, pending_real, real_operand, real_operator
from n6build.compile.reference.onnx.storage import channels_last
from n6build.compile.reference.onnx.values import Constant, Float32, Held, Pending, Target, Value

_EXPORT = "export the model again"


def _layer_normalization(node: Node, building: Building) -> Value:
    given = node.quantised(0)
    axis = node.axis(int(node.attributes.get("axis", -1)), len(given.shape))
    if len(node.outputs) > 1 and any(node.outputs[1:]):
        raise node.error("N6-NET-008", "gives mean or deviation, too", "export the model for inference")
    depth = math.prod(given.shape[axis:])
    scale = node.constant(1).numbers().reshape(-1)
    bias = node.optional_constant(2)
    numbers = [scale, np.zeros(depth, np.float32) if bias is None else bias.numbers().reshape(-1)]
    if any(each.size != depth for each in numbers):
        raise node.error("N6-NET-007", f"rows have {depth} elements, scale or bias other sizes", _EXPORT)
    epsilon = float(np.float32(node.attributes.get("epsilon", 1e-5)))

    def make(target: Target) -> Held:
        source = building.in_model_order(given)
        constants = _constants(node, building, {"scale": numbers[0], "bias": numbers[1]})
        options = NormOptions(target.low, target.high, depth, epsilon)
        inputs = [source.tensor, *constants]
        return building.made("LayerNormalization", inputs, target, given.shape, source.order, options)

    return Pending(given.shape, make)


def _instance_normalization(node: Node, building: Building) -> Value:
    given = node.quantised(0)
    rank = len(given.shape)
    numbers = {"scale": node.constant(1).numbers().reshape(-1), "bias": node.constant(2).numbers().reshape(-1)}
    if rank < 3 or given.shape[0] != 1 or any(each.size != given.shape[1] for each in numbers.values()):
        what = f"its input has the shape {list(given.shape)}, or scale or bias other sizes"
        raise node.error("N6-NET-007", what, "use batch 1, channels and at least one more dimension")
    epsilon = float(np.float32(node.attributes.get("epsilon", 1e-5)))
    order = channels_last(rank)

    def make(target: Target) -> Held:
        inputs = [building.ordered(given, order).tensor, *_constants(node, building, numbers)]
        options = NormOptions(target.low, target.high, given.shape[1], epsilon)
        return building.made("InstanceNormalization", inputs, target, given.shape, order, options)

    return Pending(given.shape, make)


def _batch_normalization(node: Node, building: Building) -> Value:
    """Translate a normalisation to a product and a sum in float32.

    Behind a convolution, it becomes constants of that.

    Factor and offset of a channel are computed as ONNX Runtime does.
    """
    given = node.value(0)
    if isinstance(given, Constant) or not can_be_real(given):
        given = node.quantised(0)
    channels = given.shape[1] if len(given.shape) > 1 else 1
    scale, bias, mean, variance = (node.constant(position).numbers().reshape(-1) for position in range(1, 5))
    if node.attributes.get("training_mode") or any(node.outputs[1:]):
        raise node.error("N6-NET-008", "is one for training", "export the model for inference")
    if any(each.size != channels for each in (scale, bias, mean, variance)):
        raise node.error("N6-NET-007", f"has {channels} channels, and constants of other sizes", _EXPORT)
    factor = np.float32(1) / np.sqrt(variance + np.float32(node.attributes.get("epsilon", 1e-5))) * scale
    order = channels_last(len(given.shape))

    def compute(name: str) -> Tensor:
        real = real_operand(building, given, f"{name} operand", given.shape, order)
        by_factor, by_offset = _constants(node, building, {"factor": factor, "offset": bias - mean * factor})
        product = real_operator(building, "MUL", [real, by_factor], f"{name} product", real.shape)
        return real_operator(building, "ADD", [product, by_offset], name, real.shape)

    made = pending_real(node, building, given.shape, order, compute)
    # A convolution in front may make its numbers.
    scaled = given.scaled(factor, bias - mean * factor) if isinstance(given, Pending) and given.scaled else None
    return replace(scaled, make_real=made.make_real) if scaled else made


def _prelu(node: Node, building: Building) -> Value:
    given = node.quantised(0)
    slopes = node.constant(1)
    channels = given.shape[1] if len(given.shape) > 1 else 1
    sizes = (1,) * (len(given.shape) - len(slopes.shape)) + slopes.shape
    one_each = len(sizes) == len(given.shape) and math.prod(sizes) in (1, sizes[1:2] and sizes[1])
    if not one_each or slopes.array.size not in (1, channels):
        what = f"its slopes have the shape {list(slopes.shape)} for {list(given.shape)}"
        raise node.error("N6-NET-008", what, "use one slope, or one for each channel")
    numbers = np.broadcast_to(slopes.numbers().reshape(-1), channels)
    order = channels_last(len(given.shape))

    def make(target: Target) -> Held:
        source = building.ordered(given, order)
        inputs = [source.tensor, *_constants(node, building, {"slopes": numbers})]
        options = LimitOptions(target.low, target.high)
        return building.made("PRelu", inputs, target, given.shape, order, options)

    return Pending(given.shape, make)


def _constants(node: Node, building: Building, numbers: dict[str, Float32]) -> list[Tensor]:
    return [building.constant(f"{node.outputs[0]} {name}", values) for name, values in numbers.items()]


FAMILY = NodeFamily(
    {
        "LayerNormalization": _layer_normalization,
        "InstanceNormalization": _instance_normalization,
        "BatchNormalization": _batch_normalization,
        "PRelu": _prelu,
    }
)
