"""QLinearConv: convolution in groups, as in ONNX Runtime.

Its sums are scaled in float32 and rounded half to even.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from n6build.compile.reference.descriptors import ENDS, SHAPE, Kernel, Member, Structure, reads, writes
from n6build.compile.reference.epochs import Fields
from n6build.compile.reference.graph import Tensor
from n6build.compile.reference.kernel_call import Argument, Constant, KernelCall, Parameter, Scratch, fields_of
from n6build.compile.reference.onnx.limits import limited_range
from n6build.compile.reference.onnx.windowing import Windowing
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.ranges import RANGE
from n6build.compile.reference.rules import INT8, INT32, Problem, Rule, shown
from n6build.compile.reference.weights import WEIGHT_MEMBERS
from n6build.compile.reference.windows import MAX_DIMENSION, WINDOW, WINDOW_MEMBERS

_WEIGHTS, _BIAS = 1, 2
_ALIGNMENT = 16

CONV = Kernel(
    "qlinear_conv",
    Structure(
        "n6k_qlinear_conv_t",
        (
            *ENDS,
            *WEIGHT_MEMBERS,
            Member("scale", reads("float")),
            Member("scratch", writes("int8_t")),
            *WINDOW_MEMBERS,
            Member("groups", "uint16_t"),
            Member("input_zero_point", "int8_t"),
            Member("range", RANGE),
        ),
        doc="weights [output channel][window height][window width][input channel of its group]; bias, with the input's zero "
        "point, and scale: one per output channel. scratch: N6K_QLINEAR_CONV_SCRATCH bytes. A sum is converted to float32, "
        "multiplied by its scale and rounded to the nearest integer, halves to even.",
        definitions="""\
/* Bytes of scratch: the window's column, of the channels of one group. */
#define N6K_QLINEAR_CONV_SCRATCH(window_h, window_w, depth) ((((window_h) * (window_w) * (depth)) + 15) & ~15)
""",
    ),
)
DEPTHWISE = Kernel(
    "qlinear_depthwise_conv",
    Structure(
        "n6k_qlinear_depthwise_conv_t",
        (
            *ENDS,
            *WEIGHT_MEMBERS,
            Member("scale", reads("float")),
            *WINDOW_MEMBERS,
            Member("depth_multiplier", "uint16_t"),
            Member("input_zero_point", "int8_t"),
            Member("range", RANGE),
        ),
        doc="weights [window height][window width][output channel]; output channel c reads input channel "
        "c / depth_multiplier, less its zero point. bias: as in the model. Scaled as by qlinear_conv.",
    ),
)


@dataclass(frozen=True)
class ConvOptions:
    """Options of a convolution.

    Attributes:
        windowing: Window of one or two dimensions.
        groups: Number of groups of channels.
        low: Lower limit of the output's real numbers.
        high: Upper limit of the output's real numbers.
    """

    windowing: Windowing
    groups: int
    low: float
    high: float


def _check(operands: Operands) -> Iterator[Problem]:
    for tensor in (operands.first, operands.output):
        if tensor.shape[0] != 1 or max(tensor.shape) > MAX_DIMENSION:
            what = f"tensor {shown(tensor)} has the shape {list(tensor.shape)}"
            yield Problem("N6-NET-005", what, f"use batch 1, and at most {MAX_DIMENSION}")
    yield from check_sums(operands)


def check_sums(operands: Operands) -> Iterator[Problem]:
    """Check that the sums of products fit in 32 bits."""
    weights, bias = operands.required(_WEIGHTS).data, operands.required(_BIAS).data
    assert weights is not None and bias is not None
    largest = np.abs(weights.astype(np.int64)).reshape(len(weights), -1).sum(axis=1).max(initial=0) * 255
    if largest + np.abs(bias.astype(np.int64)).max(initial=0) >= 1 << 31:
        what = f"the sums with {shown(operands.required(_WEIGHTS))} can exceed 32 bits"
        yield Problem(
            "N6-NET-006", what, "calibrate with representative data: the bias is far larger than the products"
        )


def _lower(operands: Operands) -> KernelCall:
    options = operands.operator.options
    assert isinstance(options, ConvOptions)
    weights = operands.required(_WEIGHTS)
    assert weights.data is not None
    channels, *window, depth = weights.shape
    height, width = (1, *window)[-2:]
    in_channels = operands.first.shape[-1]
    depthwise = depth == 1 and options.groups == in_channels and in_channels > 1
    common: dict[str, Argument] = {
        "in": _shape(operands.first),
        "out": _shape(operands.output),
        "window": window_fields(options.windowing, height, width),
    }
    ends: dict[str, Argument] = {
        "input_zero_point": required_quantisation(operands.first).zero_point,
        "range": limited_range(operands.output, options.low, options.high),
    }
    macs = operands.output.elements * height * width * depth
    if depthwise:
        arguments = {
            "input": operands.first,
            "output": operands.output,
            "weights": Constant("int8", weights.data.reshape(channels, height * width).T),
            "bias": Parameter(operands.required(_BIAS), "bias"),
            "scale": scales(operands),
            **common,
            "depth_multiplier": channels // in_channels,
        }
        return KernelCall(DEPTHWISE, {**arguments, **ends}, macs)
    return KernelCall(
        CONV, {**conv_arguments(operands, height, width, depth), **common, "groups": options.groups, **ends}, macs
    )


def conv_arguments(operands: Operands, height: int, width: int, depth: int) -> dict[str, Argument]:
    """Return the arguments for CONV from input to scratch.

    Args:
        operands: Operands of the operator.
        height: Height of the window.
        width: Width of the window.
        depth: Channels of a group.
    """
    column = -(-height * width * depth // _ALIGNMENT) * _ALIGNMENT
    return {
        "input": operands.first,
        "output": operands.output,
        "weights": Parameter(operands.required(_WEIGHTS), "weights"),
        "bias": Constant("int32", _folded_bias(operands)),
        "scale": scales(operands),
        "scratch": Scratch(column, least=f"N6K_QLINEAR_CONV_SCRATCH({height}, {width}, {depth})"),
    }


def scales(operands: Operands) -> Constant:
    """Return the scale of each output channel's sums.

    It is input scale * weight scale / output scale, computed in float32.
    """
    weights = operands.required(_WEIGHTS)
    of_weights = np.array(required_quantisation(weights).scales, np.float32)
    source = np.float32(required_quantisation(operands.first).scale)
    target = np.float32(required_quantisation(operands.output).scale)
    real = (source * of_weights / target).astype(np.float32)
    return Constant("float32", np.ascontiguousarray(np.broadcast_to(real, weights.shape[0])))


def _folded_bias(operands: Operands) -> np.ndarray:
    weights, bias = operands.required(_WEIGHTS).data, operands.required(_BIAS).data
    assert weights is not None and bias is not None
    sums = weights.astype(np.int64).reshape(len(weights), -1).sum(axis=1)
    zero_point = required_quantisation(operands.first).zero_point
    folded: np.ndarray = bias.astype(np.int64) - zero_point * sums
    return folded.astype(np.int32)


def _shape(tensor: Tensor) -> Fields:
    height, width, channels = (1, *tensor.shape[1:])[-3:]
    return fields_of(SHAPE, {"height": height, "width": width, "channels": channels})


def window_fields(windowing: Windowing, height: int, width: int) -> Fields:
    """Return the fields of WINDOW; a single dimension is the width."""

    def both(numbers: tuple[int, ...], otherwise: int) -> tuple[int, int]:
        return (numbers[0], numbers[1]) if len(numbers) > 1 else (otherwise, numbers[0])

    stride_h, stride_w = both(windowing.strides, 1)
    dilation_h, dilation_w = both(windowing.dilations, 1)
    pad_top, pad_left = both(windowing.before, 0)
    return fields_of(
        WINDOW,
        {
            "height": height,
            "width": width,
            "stride_h": stride_h,
            "stride_w": stride_w,
            "dilation_h": dilation_h,
            "dilation_w": dilation_w,
            "pad_top": pad_top,
            "pad_left": pad_left,
        },
    )


OPERATOR = OperatorKind(
    name="QLinearConv",
    label="QLinearConv",
    rule=Rule(inputs=(INT8, INT8, INT32), required=3, constants=(_WEIGHTS, _BIAS), output=INT8, check=_check),
    lower=_lower,
    kernels=(CONV, DEPTHWISE),
)
