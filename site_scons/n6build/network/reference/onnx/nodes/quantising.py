"""QuantizeLinear and DequantizeLinear: between real numbers and the integers that stand for them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from n6build.network.reference.graph import Quantisation
from n6build.network.reference.onnx.building import Building
from n6build.network.reference.onnx.functions import pending_function
from n6build.network.reference.onnx.node import Node, NodeFamily
from n6build.network.reference.onnx.values import Constant, Held, Pending, Target, Value

_CALIBRATE = "quantise the model to int8 (activation_type and weight_type QInt8)"
# Nothing is quantised so finely that a float32 of these would be 0.
_LEAST_SCALE = 1e-30


def quantisation_of(node: Node, first: int, dtype: str | None = None) -> Quantisation:
    """The scale at input `first` and the zero point behind it, as of int8 where they are of uint8. dtype: of the quantised
    integers, where they are known otherwise. Raises N6-NET-004, N6-NET-006 and N6-NET-007."""
    scales = np.asarray(node.constant(first).array, np.float32).reshape(-1)
    stored = node.optional_constant(first + 1)
    zero_points: NDArray[Any] = np.zeros(len(scales), dtype or "uint8") if stored is None else stored.array.reshape(-1)
    if zero_points.dtype.name not in ("int8", "uint8", "int32"):
        what = f"quantises to {zero_points.dtype.name}; this backend computes int8"
        raise node.error("N6-NET-004", what, _CALIBRATE)
    if len(zero_points) != len(scales) or not np.all(np.isfinite(scales)) or not np.all(scales > _LEAST_SCALE):
        raise node.error("N6-NET-006", "has scales that are not positive, or not as many as zero points", _CALIBRATE)
    offset = 128 if zero_points.dtype.name == "uint8" else 0
    return Quantisation(
        tuple(float(scale) for scale in scales), tuple(int(zero) - offset for zero in zero_points.tolist())
    )


def one_quantisation(node: Node, first: int) -> Quantisation:
    """As `quantisation_of`, of an activation: one scale, of int8 or uint8. Raises N6-NET-006 too."""
    quantisation = quantisation_of(node, first)
    if len(quantisation.scales) != 1:
        what = f"quantises an activation with {len(quantisation.scales)} scales"
        raise node.error("N6-NET-006", what, "activations have one scale; set per_channel for weights only")
    if not -128 <= quantisation.zero_point <= 127:
        raise node.error("N6-NET-006", f"has the zero point {quantisation.zero_point}", _CALIBRATE)
    return quantisation


def target_of(node: Node, first: int) -> Target:
    """What the scale at input `first` and the zero point behind it ask for, of the node's first output. Raises as
    `one_quantisation`."""
    quantisation, zero_point = one_quantisation(node, first), node.optional_constant(first + 1)
    return Target(node.outputs[0], quantisation, zero_point is None or zero_point.array.dtype == np.uint8)


def quantise(node: Node, building: Building, value: Value, target: Target) -> Value:
    """An int8 tensor, or a constant. Raises N6-NET-004."""
    match value:
        case Constant():
            tensor = building.quantised_constant(value, target.name, target.quantisation)
            assert tensor.data is not None
            return Constant(tensor.data)
        case Pending():
            low, high = max(target.low, value.low), min(target.high, value.high)
            return value.make(replace(target, low=low, high=high))
    if value.is_float:
        return building.made("QuantizeLinear", [value.tensor], target, value.shape, value.order)
    if not value.real:
        raise node.error("N6-NET-004", "quantises integers", "export the model again")
    given = value.tensor.quantisation
    if given == target.quantisation and math.inf == target.high == -target.low:
        return replace(value, real=False)
    return quantise(node, building, pending_function(building, value, lambda x: x), target)


def _quantise(node: Node, building: Building) -> Value:
    value = node.value(0)
    if isinstance(value, Constant) and len(np.asarray(node.constant(1).array).reshape(-1)) > 1:
        return _quantised_weights(node, value)
    return quantise(node, building, value, target_of(node, 1))


def _quantised_weights(node: Node, value: Constant) -> Constant:
    quantisation = quantisation_of(node, 1)
    axis = node.axis(int(node.attributes.get("axis", 1)), value.array.ndim)
    if len(quantisation.scales) != value.shape[axis]:
        raise node.error("N6-NET-006", f"has {len(quantisation.scales)} scales for {value.shape[axis]}", _CALIBRATE)
    sizes = [1] * value.array.ndim
    sizes[axis] = -1
    steps = np.rint(value.numbers() / np.array(quantisation.scales, np.float32).reshape(sizes))
    steps += np.array(quantisation.zero_points).reshape(sizes)
    return Constant(np.clip(steps, -128, 127).astype(np.int8))


def _dequantise(node: Node, building: Building) -> Value:
    if node.attributes.get("block_size"):
        raise node.error("N6-NET-008", "quantises in blocks", "quantise per tensor or per channel")
    value = node.value(0)
    if isinstance(value, Constant):
        quantisation = quantisation_of(node, 1, value.array.dtype.name)
        axis = int(node.attributes.get("axis", 1))
        if len(quantisation.scales) > 1:
            axis = node.axis(axis, value.array.ndim)
            if value.shape[axis] != len(quantisation.scales):
                raise node.error(
                    "N6-NET-006", f"has {len(quantisation.scales)} scales for {value.shape[axis]}", _CALIBRATE
                )
        return Constant(as_int8(value.array), replace(quantisation, axis=axis), value.array.dtype == np.uint8)
    quantisation = one_quantisation(node, 1)
    if not isinstance(value, Held) or value.is_float or value.real:
        raise node.error("N6-NET-004", "dequantises real numbers", "export the model again")
    return with_scale(node, building, value, quantisation)


def with_scale(node: Node, building: Building, value: Held, quantisation: Quantisation) -> Held:
    """The real numbers of integers that were made with this quantisation. Raises N6-NET-006."""
    real = building.signed(value, quantisation)
    if real.tensor.quantisation != quantisation:
        what = "reads integers with another scale or zero point than they were made with"
        raise node.error("N6-NET-006", what, "quantise the model again")
    return real


def as_int8(array: NDArray[np.generic]) -> NDArray[np.generic]:
    """uint8 less 128, anything else as it is."""
    return (array.astype(np.int16) - 128).astype(np.int8) if array.dtype == np.uint8 else array


FAMILY = NodeFamily({"QuantizeLinear": _quantise, "DequantizeLinear": _dequantise})
