"""Transposed convolutions.

Operators:
    TRANSPOSE_CONV: every input pixel spreads a window of weights over the output.
    TRANSPOSE_CONV int16: the same for int16 and weights of int8.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import tflite

from n6build.compile.reference import int16
from n6build.compile.reference.descriptors import ENDS, Member, kernel_with, reads
from n6build.compile.reference.epochs import Fields
from n6build.compile.reference.fixed_point import accumulator_multiplier
from n6build.compile.reference.kernel_call import Constant, KernelCall, Parameter, fields_of
from n6build.compile.reference.operands import Operands, required_quantisation, zero_point_of
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.ranges import RANGE, output_range, read_activation
from n6build.compile.reference.reference_options import OptionsReader
from n6build.compile.reference.rules import (
    CONVERT,
    INT8,
    INT16,
    INT32,
    INT64,
    Problem,
    Rule,
    check_nhwc,
    check_shape,
    shown,
)
from n6build.compile.reference.weights import (
    SCALING_MEMBERS,
    WEIGHT_MEMBERS,
    WEIGHTS,
    check_channel_scales,
    wrapped_int32,
)
from n6build.compile.reference.windows import (
    WINDOW,
    WINDOW_MEMBERS,
    WindowOptions,
    read_padding,
    shape_of,
    window_options,
    window_output,
)

_SHAPE, _INPUT, _BIAS = 0, 2, 3
_OUTPUT_CHANNELS = 0  # the axis of the weights

_KERNEL = kernel_with(
    "transpose_conv",
    *ENDS,
    *WEIGHT_MEMBERS,
    Member("tap_bias", reads("int32_t")),
    *SCALING_MEMBERS,
    *WINDOW_MEMBERS,
    Member("range", RANGE),
    doc="weights [output channel][window height][window width][input channel]; bias, multiplier, shift: one per output "
    "channel. tap_bias [window height][window width][output channel]: -input zero point * sum of the tap's weights, of those "
    "taps that an output pixel gets something from. Padding is cut off the output. Rounding: double.",
)


def _read(table: tflite.TransposeConvOptions) -> WindowOptions:
    return WindowOptions(
        padding=read_padding(table.Padding()),
        stride_h=table.StrideH(),
        stride_w=table.StrideW(),
        activation=read_activation(table.FusedActivationFunction()),
    )


def _check(operands: Operands) -> Iterator[Problem]:
    weights, given, output = operands.required(WEIGHTS), operands.required(_INPUT), operands.output
    bias, shape, options = operands.optional(_BIAS), operands.required(_SHAPE), window_options(operands)
    yield from check_nhwc(given, output)
    if len(weights.shape) != 4 or weights.shape[3] != given.shape[3] or weights.shape[0] != output.shape[3]:
        yield Problem(
            "N6-NET-007",
            f"tensor {shown(weights)} of shape {list(weights.shape)} does not lead from {given.shape[3]} to "
            f"{output.shape[3]} channels",
            CONVERT,
        )
        return
    yield from check_channel_scales(weights, _OUTPUT_CHANNELS)
    if bias is not None:
        yield from check_shape(bias, (weights.shape[0],))
    if min(options.stride_h, options.stride_w) < 1:
        yield Problem("N6-NET-007", f"has strides of {options.stride_h} and {options.stride_w}", CONVERT)
        return
    assert shape.data is not None
    if tuple(shape.data.reshape(-1).tolist()) != output.shape:
        yield Problem("N6-NET-007", f"tensor {shown(output)} has another shape than {shown(shape)} requires", CONVERT)
    for axis, stride in ((1, options.stride_h), (2, options.stride_w)):
        expected, _ = window_output(output.shape[axis], weights.shape[axis], stride, 1, options.padding)
        if expected != given.shape[axis]:
            yield Problem(
                "N6-NET-007",
                f"tensor {shown(given)} has the shape {list(given.shape)}, which does not lead to {list(output.shape)}",
                CONVERT,
            )


_INT16_KERNEL = kernel_with(
    "transpose_conv_int16",
    *int16.ENDS,
    *int16.WEIGHT_MEMBERS,
    *int16.SCALING_MEMBERS,
    *WINDOW_MEMBERS,
    Member("range", int16.RANGE),
    doc="As n6k_transpose_conv_t, with sums of 64 bits. Rounding: single.",
)


def _window(operands: Operands) -> Fields:
    weights, options = operands.required(WEIGHTS), window_options(operands)
    _, height, width, _ = weights.shape
    _, top = window_output(operands.output.shape[1], height, options.stride_h, 1, options.padding)
    _, left = window_output(operands.output.shape[2], width, options.stride_w, 1, options.padding)
    window = {
        "height": height,
        "width": width,
        "stride_h": options.stride_h,
        "stride_w": options.stride_w,
        "dilation_h": 1,
        "dilation_w": 1,
        "pad_top": top,
        "pad_left": left,
    }
    return fields_of(WINDOW, window)


def _lower_int16(operands: Operands) -> KernelCall:
    given, weights, bias = (operands.required(_INPUT), operands.required(WEIGHTS), operands.optional(_BIAS))
    # The kernels of convolutions have input, weights and bias at these positions.
    convolution = replace(operands, inputs=(given, weights, bias))
    return KernelCall(
        _INT16_KERNEL,
        {
            "input": given,
            "output": operands.output,
            **int16.convolution_arguments(convolution, _OUTPUT_CHANNELS),
            "in": shape_of(given),
            "out": shape_of(operands.output),
            "window": _window(operands),
            "range": int16.output_range(operands.output, window_options(operands).activation),
        },
        macs=given.elements * weights.elements // weights.shape[3],
    )


def _lower(operands: Operands) -> KernelCall:
    weights, given, options = operands.required(WEIGHTS), operands.required(_INPUT), window_options(operands)
    bias = operands.optional(_BIAS)
    channels, height, width, _ = weights.shape
    assert weights.data is not None
    sums = weights.data.astype(np.int64).sum(axis=3)
    source, target = required_quantisation(given).scale, required_quantisation(operands.output).scale
    scales = required_quantisation(weights).scales
    pairs = [accumulator_multiplier(source * scale / target) for scale in scales] * (channels // len(scales))
    return KernelCall(
        _KERNEL,
        {
            "input": given,
            "output": operands.output,
            "weights": Parameter(weights, "weights"),
            "bias": Parameter(bias, "bias") if bias else Constant("int32", np.zeros(channels, np.int32)),
            "tap_bias": Constant("int32", wrapped_int32(np.moveaxis(sums, 0, 2) * -zero_point_of(given))),
            "multiplier": Constant("int32", np.array([multiplier for multiplier, _ in pairs], np.int32)),
            "shift": Constant("int32", np.array([shift for _, shift in pairs], np.int32)),
            "in": shape_of(given),
            "out": shape_of(operands.output),
            "window": _window(operands),
            "range": output_range(operands.output, options.activation),
        },
        macs=given.elements * height * width * channels,
    )


_OPERATOR = OperatorKind(
    name="TRANSPOSE_CONV",
    label="TransposeConv",
    options=OptionsReader(tflite.TransposeConvOptions, _read),
    rule=Rule(
        inputs=(INT32, INT8, INT8, INT32),
        required=3,
        constants=(_SHAPE, WEIGHTS, _BIAS),
        output=INT8,
        check=_check,
        first_may_be_constant=True,
    ),
    lower=_lower,
    kernels=(_KERNEL,),
)
OPERATORS = (
    _OPERATOR,
    replace(
        _OPERATOR,
        name="TRANSPOSE_CONV int16",
        rule=replace(_OPERATOR.rule, inputs=(INT32, INT8, INT16, INT64), output=INT16),
        lower=_lower_int16,
        kernels=(_INT16_KERNEL,),
    ),
)
