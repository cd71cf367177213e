"""Convolutions over height and width, channel by channel.

Operators:
    DEPTHWISE_CONV_2D: convolution over height and width, channel by channel. Each output channel
        reads one input channel.
    DEPTHWISE_CONV_2D asymmetric: with weights that have a zero point. Models of uint8 have such
        weights.
    DEPTHWISE_CONV_2D int16: with int16 activations and int8 weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import tflite

from n6build.compile.reference import int16
from n6build.compile.reference.descriptors import ENDS, Member, kernel_with, reads, writes
from n6build.compile.reference.kernel_call import Argument, Constant, KernelCall, Scratch, ends, recast
from n6build.compile.reference.operands import Operands, required_quantisation, zero_point_of
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.operators.conv_2d import CONV_2D, convolution_call
from n6build.compile.reference.ranges import RANGE, output_range
from n6build.compile.reference.reference_options import OptionsReader
from n6build.compile.reference.rules import CONVERT, INT8, INT16, INT64, Problem, Rule, check_nhwc, shown
from n6build.compile.reference.weights import (
    CONSTANTS,
    INPUTS,
    SCALING_MEMBERS,
    WEIGHT_MEMBERS,
    WEIGHTS,
    check_weights,
    convolution_arguments,
    plain_bias,
    weights_zero_point,
)
from n6build.compile.reference.windows import (
    WINDOW_MEMBERS,
    check_window,
    read_convolution,
    window_arguments,
    window_options,
)

_OUTPUT_CHANNELS = 3  # the axis of the weights

# Rows and columns of the output that are computed from one copy of the input. Only the input between two such
# copies is copied twice.
_ROWS, _COLUMNS = 4, 64

_KERNEL = kernel_with(
    "depthwise_conv_2d",
    *ENDS,
    *WEIGHT_MEMBERS,
    *SCALING_MEMBERS,
    Member("scratch", writes("int8_t")),
    *WINDOW_MEMBERS,
    Member("depth_multiplier", "uint16_t"),
    Member("input_zero_point", "int8_t"),
    Member("range", RANGE),
    doc="weights [window height][window width][output channel]; output channel c reads input channel "
    "c / depth_multiplier. scratch: N6K_DEPTHWISE_CONV_2D_SCRATCH bytes, 16-byte aligned.",
    definitions=f"""\
/* Output pixels that are computed from one copy of the input that they need, with its padding. */
#define N6K_DEPTHWISE_CONV_2D_ROWS {_ROWS}
#define N6K_DEPTHWISE_CONV_2D_COLUMNS {_COLUMNS}

/* Bytes of scratch: that copy, `in_rows` of `in_columns` pixels of sixteen channels, and the weights of sixteen channels,
 * which are at worst twice as many with zeros between them, with the place of each. */
#define N6K_DEPTHWISE_CONV_2D_SCRATCH(in_rows, in_columns, window_h, window_w) \\
    (16 * (in_rows) * (in_columns) + 40 * (window_h) * (window_w) + 32)
""",
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
    weights = operands.required(WEIGHTS)
    _, height, width, channels = weights.shape
    arguments = convolution_arguments(operands, _OUTPUT_CHANNELS)
    if operands.source.shape[3] == 1:
        # All output channels read the one input channel: this is an ordinary convolution with another order of weights.
        assert weights.data is not None
        by_channel = np.ascontiguousarray(np.moveaxis(weights.data, _OUTPUT_CHANNELS, 0))
        return convolution_call(operands, {**arguments, "weights": Constant("int8", by_channel)}, height, width)
    return KernelCall(
        _KERNEL,
        {
            **ends(operands),
            **arguments,
            "scratch": _scratch(operands, height, width),
            **window_arguments(operands, height, width),
            "depth_multiplier": channels // operands.source.shape[3],
            "input_zero_point": required_quantisation(operands.source).zero_point,
            "range": output_range(operands.output, window_options(operands).activation),
        },
        macs=operands.output.elements * height * width,
    )


def _scratch(operands: Operands, height: int, width: int) -> Scratch:
    """Return the scratch memory for a window of this height and width."""
    options = window_options(operands)
    _, out_height, out_width, _ = operands.output.shape
    in_rows = (min(out_height, _ROWS) - 1) * options.stride_h + (height - 1) * options.dilation_h + 1
    in_columns = (min(out_width, _COLUMNS) - 1) * options.stride_w + (width - 1) * options.dilation_w + 1
    return Scratch(
        16 * in_rows * in_columns + 40 * height * width + 32,
        least=f"N6K_DEPTHWISE_CONV_2D_SCRATCH({in_rows}, {in_columns}, {height}, {width})",
    )


_OPERATOR = OperatorKind(
    name="DEPTHWISE_CONV_2D",
    label="DepthwiseConv2D",
    options=OptionsReader(tflite.DepthwiseConv2DOptions, read_convolution),
    rule=Rule(inputs=INPUTS, required=2, constants=CONSTANTS, output=INT8, check=_check),
    lower=_lower,
    kernels=(_KERNEL, CONV_2D),
    takes_over=zero_point_of,
)


_ASYMMETRIC = kernel_with(
    "depthwise_conv_2d_asymmetric",
    *ENDS,
    Member("weights", reads("int16_t")),
    Member("bias", reads("int32_t")),
    *SCALING_MEMBERS,
    *WINDOW_MEMBERS,
    Member("depth_multiplier", "uint16_t"),
    Member("input_zero_point", "int8_t"),
    Member("range", RANGE),
    doc="As n6k_depthwise_conv_2d_t, by weights whose zero point was taken from them; nor does the bias hold the input's.",
)


def _lower_asymmetric(operands: Operands) -> KernelCall:
    weights = operands.required(WEIGHTS)
    assert weights.data is not None
    wide = weights.data.astype(np.int16) - np.int16(weights_zero_point(operands))
    changed: dict[str, Argument] = {
        "weights": Constant("int16", wide),
        "bias": Constant("int32", plain_bias(operands, _OUTPUT_CHANNELS).astype(np.int32)),
        "depth_multiplier": weights.shape[3] // operands.source.shape[3],
    }
    return recast(_OPERATOR.lower(operands), _ASYMMETRIC, changed)


# Up to this sum of absolute weights, sums of products with any int16 stay below 2^31.
_MOST = 65535

_INT16 = kernel_with(
    "depthwise_conv_2d_int16",
    *int16.ENDS,
    *int16.WEIGHT_MEMBERS,
    *int16.SCALING_MEMBERS,
    *WINDOW_MEMBERS,
    Member("depth_multiplier", "uint16_t"),
    Member("range", int16.RANGE),
    doc="weights [window height][window width][output channel]; a channel's absolute weights are at most 65535 together.",
)


def _check_int16(operands: Operands) -> Iterator[Problem]:
    yield from _OPERATOR.rule.check(operands)
    weights = operands.required(WEIGHTS)
    assert weights.data is not None
    largest = int(np.abs(weights.data.astype(np.int32)).sum(axis=(0, 1, 2)).max())
    if largest > _MOST:
        what = f"the absolute weights of a channel of {shown(weights)} sum up to {largest}, more than {_MOST}"
        yield Problem("N6-NET-007", what, "use a smaller window, for example of 516 taps, which always fits")


def _lower_int16(operands: Operands) -> KernelCall:
    changed = {
        **int16.convolution_arguments(operands, _OUTPUT_CHANNELS),
        "depth_multiplier": operands.required(WEIGHTS).shape[3] // operands.source.shape[3],
        "range": int16.output_range(operands.output, window_options(operands).activation),
    }
    return recast(_OPERATOR.lower(operands), _INT16, changed)


OPERATORS = (
    _OPERATOR,
    replace(_OPERATOR, name="DEPTHWISE_CONV_2D asymmetric", lower=_lower_asymmetric, kernels=(_ASYMMETRIC,)),
    replace(
        _OPERATOR,
        name="DEPTHWISE_CONV_2D int16",
        rule=replace(_OPERATOR.rule, inputs=(INT16, INT8, INT64), output=INT16, check=_check_int16),
        lower=_lower_int16,
        kernels=(_INT16,),
    ),
)
