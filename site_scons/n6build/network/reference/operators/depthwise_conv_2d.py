"""DEPTHWISE_CONV_2D: a convolution over height and width, of one input channel for each output channel."""

from __future__ import annotations

from collections.abc import Iterator

import tflite

from n6build.network.reference import asymmetric
from n6build.network.reference.descriptors import ENDS, Kernel, Member, Structure
from n6build.network.reference.kernel_call import KernelCall
from n6build.network.reference.operands import Operands, required_quantisation, zero_point_of
from n6build.network.reference.operator_kind import OperatorKind
from n6build.network.reference.options import OptionsReader
from n6build.network.reference.ranges import RANGE, output_range
from n6build.network.reference.rules import CONVERT, INT8, Problem, Rule, check_nhwc, shown
from n6build.network.reference.weights import (
    CONSTANTS,
    INPUTS,
    SCALING_MEMBERS,
    WEIGHT_MEMBERS,
    WEIGHTS,
    check_weights,
    convolution_arguments,
)
from n6build.network.reference.windows import (
    WINDOW_MEMBERS,
    check_window,
    read_convolution,
    window_arguments,
    window_options,
)

_OUTPUT_CHANNELS = 3  # the axis of the weights

_KERNEL = Kernel(
    "depthwise_conv_2d",
    Structure(
        "n6k_depthwise_conv_2d_t",
        (
            *ENDS,
            *WEIGHT_MEMBERS,
            *SCALING_MEMBERS,
            *WINDOW_MEMBERS,
            Member("depth_multiplier", "uint16_t"),
            Member("input_zero_point", "int8_t"),
            Member("range", RANGE),
        ),
        doc="weights [window height][window width][output channel]; output channel c reads input channel "
        "c / depth_multiplier.",
    ),
)


def _check(operands: Operands) -> Iterator[Problem]:
    weights = operands.required(WEIGHTS)
    yield from check_nhwc(operands.first, operands.output)
    if len(weights.shape) != 4 or weights.shape[0] != 1 or weights.shape[3] % operands.first.shape[3]:
        yield Problem(
            "N6-NET-007",
            f"tensor {shown(weights)} of shape {list(weights.shape)} does not fit {operands.first.shape[3]} input channels",
            CONVERT,
        )
        return
    _, height, width, channels = weights.shape
    yield from check_weights(operands, _OUTPUT_CHANNELS)
    yield from check_window(operands, height, width, channels)


def _lower(operands: Operands) -> KernelCall:
    _, height, width, channels = operands.required(WEIGHTS).shape
    symmetric = KernelCall(
        _KERNEL,
        {
            "input": operands.source,
            "output": operands.output,
            **convolution_arguments(operands, _OUTPUT_CHANNELS),
            **window_arguments(operands, height, width),
            "depth_multiplier": channels // operands.source.shape[3],
            "input_zero_point": required_quantisation(operands.source).zero_point,
            "range": output_range(operands.output, window_options(operands).activation),
        },
        macs=operands.output.elements * height * width,
    )
    return asymmetric.depthwise_with_zero_point(symmetric, operands)


OPERATOR = OperatorKind(
    name="DEPTHWISE_CONV_2D",
    label="DepthwiseConv2D",
    options=OptionsReader(
        tflite.DepthwiseConv2DOptions, tflite.BuiltinOptions.DepthwiseConv2DOptions, read_convolution
    ),
    rule=Rule(inputs=INPUTS, required=2, constants=CONSTANTS, output=INT8, check=_check),
    lower=_lower,
    kernels=(_KERNEL, asymmetric.DEPTHWISE_CONV_2D),
    takes_over=zero_point_of,
)
