"""QuantizeLinear and DequantizeLinear.

They convert between real numbers and the integers that represent them.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from n6build.compile.reference.graph import Quantisation
from n6build.compile.reference.onnx.building import Building
from n6build.compile.reference.onnx.functions import pending_function
from n6build.compile.reference.onnx.node import Node, NodeFamily
from n6build.compile.reference.onnx.real import quantised_real
from n6build.compile.reference.onnx.values import Constant, Held, Pending, Target, Value

_CALIBRATE = "quantise the model to int8 (activation_type and weight_type QInt8)"
# No model is quantised so finely. With smaller scales, a result in float32 could be 0.
_LEAST_SCALE = 1e-30


def quantisation_of(node: Node, first: int, dtype: str | None = None) -> Quantisation:
    """Return the quantisation from an input with scales and the one behind it.

    The input behind it holds the zero points. Those of uint8 are converted to int8.

    Args:
        node: Node with the inputs.
        first: Position of the input with the scales.
        dtype: Type of the quantised integers, if it is known without a zero point.

    Raises:
        N6Error: N6-NET-004 if the type is not supported; N6-NET-006 if the scales are invalid;
            N6-NET-007 if an input is absent or no constant.
    """
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
    """Return the quantisation of an activation: one scale, of int8 or uint8.

    The inputs are those of `quantisation_of`.

    Raises:
        N6Error: As `quantisation_of`; N6-NET-006 also if there are several scales or the zero point
            is out of range.
    """
    quantisation = quantisation_of(node, first)
    if len(quantisation.scales) != 1:
        what = f"quantises an activation with {len(quantisation.scales)} scales"
        raise node.error("N6-NET-006", what, "set per_channel for weights only: activations have one scale")
    if not -128 <= quantisation.zero_point <= 127:
        raise node.error("N6-NET-006", f"has the zero point {quantisation.zero_point}", _CALIBRATE)
    return quantisation


def target_of(node: Node, first: int) -> Target:
    """Return the target that an input with a scale and the one behind it request.

    It is the node's first output. The input behind the scale holds the zero point.

    Raises:
        N6Error: As `one_quantisation`.
    """
    quantisation, zero_point = one_quantisation(node, first), node.optional_constant(first + 1)
    return Target(node.outputs[0], quantisation, zero_point is None or zero_point.array.dtype == np.uint8)


def quantise(node: Node, building: Building, value: Value, target: Target) -> Value:
    """Return a value, quantised, as an int8 tensor or a constant.

    Raises:
        N6Error: N6-NET-004 if the value is integers already.
    """
    match value:
        case Constant():
            tensor = building.quantised_constant(value, target.name, target.quantisation)
            assert tensor.data is not None
            return Constant(tensor.data)
        case Pending():
            low, high = max(target.low, value.low), min(target.high, value.high)
            return value.make(replace(target, low=low, high=high))
    if value.is_float:
        return quantised_real(building, value, target)
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
    """Return the real numbers of integers that were made with this quantisation.

    Raises:
        N6Error: N6-NET-006 if they were made with another one.
    """
    real = building.signed(value, quantisation)
    if real.tensor.quantisation != quantisation:
        what = "reads integers with another scale or zero point than their producer wrote"
        raise node.error("N6-NET-006", what, "quantise the model again")
    return real


def as_int8(array: NDArray[np.generic]) -> NDArray[np.generic]:
    """Return uint8 as int8, 128 less, and any other array as it is."""
    return (array.astype(np.int16) - 128).astype(np.int8) if array.dtype == np.uint8 else array


FAMILY = NodeFamily({"QuantizeLinear": _quantise, "DequantizeLinear": _dequantise})
