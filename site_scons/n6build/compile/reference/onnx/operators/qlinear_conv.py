"""Convolutions in groups, and rows of inputs times a matrix of weights.

Sums are those of ONNX Runtime: they are scaled in float32 and rounded half to even. QLinearMatMul is
computed as a convolution whose window is one element.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from n6build.compile.reference.descriptors import ENDS, SHAPE, Member, kernel_with, reads, writes
from n6build.compile.reference.epochs import Fields
from n6build.compile.reference.graph import Tensor
from n6build.compile.reference.kernel_call import Argument, Constant, KernelCall, Parameter, Scratch, ends, fields_of
from n6build.compile.reference.onnx.limits import LimitOptions, limited_range
from n6build.compile.reference.onnx.windowing import Windowing
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.ranges import RANGE
from n6build.compile.reference.rules import INT8, INT32, Problem, Rule, shown
from n6build.compile.reference.weights import WEIGHT_MEMBERS
from n6build.compile.reference.windows import MAX_DIMENSION, WINDOW_MEMBERS, window_of

_WEIGHTS, _BIAS = 1, 2
_ALIGNMENT = 16
# A smaller amount rounds to 0, halves to even.
_HALF = 0.5

_CONV = kernel_with(
    "qlinear_conv",
    *ENDS,
    *WEIGHT_MEMBERS,
    Member("scale", reads("float")),
    Member("scratch", writes("int8_t")),
    *WINDOW_MEMBERS,
    Member("groups", "uint16_t"),
    Member("input_zero_point", "int8_t"),
    Member("range", RANGE),
    doc="weights [output channel][window height][window width][input channel of its group]; bias, with the input's zero "
    "point, and scale: one per output channel. scratch: N6K_QLINEAR_CONV_SCRATCH bytes. A sum is converted to float32, "
    "multiplied by its scale and rounded to the nearest integer, halves to even. It is modulo 2^32, as that of onnxruntime.",
    definitions="""\
/* Bytes of scratch: the window's column, of the channels of one group. */
#define N6K_QLINEAR_CONV_SCRATCH(window_h, window_w, depth) ((((window_h) * (window_w) * (depth)) + 15) & ~15)
""",
)
_DEPTHWISE = kernel_with(
    "qlinear_depthwise_conv",
    *ENDS,
    *WEIGHT_MEMBERS,
    Member("scale", reads("float")),
    *WINDOW_MEMBERS,
    Member("depth_multiplier", "uint16_t"),
    Member("input_zero_point", "int8_t"),
    Member("range", RANGE),
    doc="weights [window height][window width][output channel]; output channel c reads input channel "
    "c / depth_multiplier, less its zero point. bias: as in the model. Scaled as by qlinear_conv.",
)


@dataclass(frozen=True)
class ConvOptions(LimitOptions):
    """Options of a convolution.

    Attributes:
        windowing: Window of one or two dimensions.
        groups: Number of groups of channels.
    """

    windowing: Windowing
    groups: int


def check_sizes(operands: Operands) -> Iterator[Problem]:
    """Check that input and output have one batch and no too large dimension."""
    for tensor in (operands.first, operands.output):
        if tensor.shape[0] != 1 or max(tensor.shape) > MAX_DIMENSION:
            what = f"tensor {shown(tensor)} has the shape {list(tensor.shape)}"
            yield Problem("N6-NET-005", what, f"use batch 1, and at most {MAX_DIMENSION}")


def can_wrap(operands: Operands) -> bool:
    """Return whether a sum of products that counts may exceed 32 bits."""
    weights, bias = _counting(operands)
    largest = np.abs(weights.astype(np.int64)).reshape(len(weights), -1).sum(axis=1) * 255
    return bool((largest + np.abs(bias.astype(np.int64))).max(initial=0) >= 1 << 31)


def _doubt(operands: Operands) -> str | None:
    return (
        "its sums can exceed 32 bits, and then wrap around as in onnxruntime: the bias is far larger than the products"
        if can_wrap(operands)
        else None
    )


def _lower(operands: Operands) -> KernelCall:
    options = operands.options(ConvOptions)
    channels, *window, depth = operands.required(_WEIGHTS).shape
    height, width = (1, *window)[-2:]
    in_channels = operands.first.shape[-1]
    depthwise = depth == 1 and options.groups == in_channels and in_channels > 1
    common: dict[str, Argument] = {
        **shapes(operands),
        "window": window_fields(options.windowing, height, width),
    }
    last: dict[str, Argument] = {
        "input_zero_point": required_quantisation(operands.first).zero_point,
        "range": limited_range(operands.output, options),
    }
    macs = operands.output.elements * height * width * depth
    if depthwise:
        values, bias = _counting(operands)
        arguments = {
            **ends(operands),
            "weights": Constant("int8", values.reshape(channels, height * width).T),
            "bias": _parameter(operands, _BIAS, "bias", bias),
            "scale": _scales(operands),
            **common,
            "depth_multiplier": channels // in_channels,
        }
        return KernelCall(_DEPTHWISE, {**arguments, **last}, macs)
    return KernelCall(
        _CONV, {**_conv_arguments(operands, height, width, depth), **common, "groups": options.groups, **last}, macs
    )


def _conv_arguments(operands: Operands, height: int, width: int, depth: int) -> dict[str, Argument]:
    """Return the arguments for _CONV from input to scratch.

    Args:
        operands: Operands of the operator.
        height: Height of the window.
        width: Width of the window.
        depth: Channels of a group.
    """
    column = -(-height * width * depth // _ALIGNMENT) * _ALIGNMENT
    weights, bias = _counting(operands)
    zero_point = required_quantisation(operands.first).zero_point
    return {
        **ends(operands),
        "weights": _parameter(operands, _WEIGHTS, "weights", weights),
        "bias": Constant("int32", _folded_bias(weights, bias, zero_point)),
        "scale": _scales(operands),
        "scratch": Scratch(column, least=f"N6K_QLINEAR_CONV_SCRATCH({height}, {width}, {depth})"),
    }


def _dead(operands: Operands) -> NDArray[np.bool_]:
    """Return whether each output channel has its zero point for all inputs.

    Any sum of 32 bits times its scale rounds to 0 there, also one that wraps around. Calibration leaves such scales,
    with biases at the limits of 32 bits, to channels that are always 0.
    """
    return np.abs(_scales(operands).data.astype(np.float64)) * (1 << 31) <= _HALF


def _counting(operands: Operands) -> tuple[NDArray[np.generic], NDArray[np.generic]]:
    """Return weights and bias, with zeros in place of those without effect.

    They are the model's own arrays if all count, so that weights are not copied.
    """
    weights, bias = operands.required(_WEIGHTS).data, operands.required(_BIAS).data
    assert weights is not None and bias is not None
    counts = ~_dead(operands)
    if counts.all():
        return weights, bias
    by_channel = counts.reshape(-1, *(1,) * (weights.ndim - 1))
    return np.where(by_channel, weights, np.int8(0)), np.where(counts, bias, np.int32(0))


def _parameter(operands: Operands, position: int, role: str, values: NDArray[np.generic]) -> Constant | Parameter:
    """Return weights or a bias of `_counting`, the model's own as a parameter."""
    tensor = operands.required(position)
    return Parameter(tensor, role) if values is tensor.data else Constant(tensor.dtype, values)


def _scales(operands: Operands) -> Constant:
    """Return the scale of each output channel's sums.

    It is input scale * weight scale / output scale, computed in float32.
    """
    weights = operands.required(_WEIGHTS)
    of_weights = np.array(required_quantisation(weights).scales, np.float32)
    source = np.float32(required_quantisation(operands.first).scale)
    target = np.float32(required_quantisation(operands.output).scale)
    real = (source * of_weights / target).astype(np.float32)
    return Constant("float32", np.ascontiguousarray(np.broadcast_to(real, weights.shape[0])))


def _folded_bias(weights: NDArray[np.generic], bias: NDArray[np.generic], zero_point: int) -> np.ndarray:
    sums = weights.astype(np.int64).reshape(len(weights), -1).sum(axis=1)
    folded: np.ndarray = bias.astype(np.int64) - zero_point * sums
    return folded.astype(np.int32)


def shapes(operands: Operands) -> dict[str, Argument]:
    """Return the arguments `in` and `out`; a single dimension is the width."""
    return {"in": _shape(operands.first), "out": _shape(operands.output)}


def _shape(tensor: Tensor) -> Fields:
    height, width, channels = (1, *tensor.shape[1:])[-3:]
    return fields_of(SHAPE, {"height": height, "width": width, "channels": channels})


def window_fields(windowing: Windowing, height: int, width: int) -> Fields:
    """Return the fields of WINDOW; a single dimension is the width."""

    def both(numbers: tuple[int, ...], otherwise: int) -> tuple[int, int]:
        return (numbers[0], numbers[1]) if len(numbers) > 1 else (otherwise, numbers[0])

    strides, dilations = both(windowing.strides, 1), both(windowing.dilations, 1)
    return window_of((height, width), strides, dilations, both(windowing.before, 0))


def _check_rows(operands: Operands) -> Iterator[Problem]:
    outputs, inputs = operands.required(_WEIGHTS).shape
    rows = operands.first.elements // inputs
    if max(rows, inputs, outputs) > MAX_DIMENSION:
        what = f"tensor {shown(operands.first)} has {rows} rows of {inputs}, times {outputs}"
        yield Problem("N6-NET-005", what, f"reduce it to {MAX_DIMENSION} at most")


def _lower_rows(operands: Operands) -> KernelCall:
    options = operands.options(LimitOptions)
    outputs, inputs = operands.required(_WEIGHTS).shape
    rows = operands.first.elements // inputs
    one = Windowing((1, 1), (1, 1), (1, 1), (0, 0), (0, 0))
    arguments = {
        **_conv_arguments(operands, 1, 1, inputs),
        "in": _row_shape(rows, inputs),
        "out": _row_shape(rows, outputs),
        "window": window_fields(one, 1, 1),
        "groups": 1,
        "input_zero_point": required_quantisation(operands.first).zero_point,
        "range": limited_range(operands.output, options),
    }
    return KernelCall(_CONV, arguments, macs=rows * inputs * outputs)


def _row_shape(rows: int, channels: int) -> Fields:
    return fields_of(SHAPE, {"height": 1, "width": rows, "channels": channels})


def _rule(check: Callable[[Operands], Iterator[Problem]]) -> Rule:
    return Rule((INT8, INT8, INT32), 3, (_WEIGHTS, _BIAS), INT8, check)


OPERATORS = (
    OperatorKind("QLinearConv", "QLinearConv", _rule(check_sizes), _lower, (_CONV, _DEPTHWISE), doubt=_doubt),
    OperatorKind("QLinearMatMul", "QLinearMatMul", _rule(_check_rows), _lower_rows, (_CONV,), doubt=_doubt),
)
