"""DEPTHWISE_CONV_2D: convolution over height and width, channel by channel.

Each output channel reads one input channel.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import tflite

from n6build.compile.reference.descriptors import ENDS, Kernel, Member, Structure, writes
from n6build.compile.reference.kernel_call import Constant, KernelCall, Scratch
from n6build.compile.reference.operands import Operands, required_quantisation, zero_point_of
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.operators.conv_2d import CONV_2D, convolution_call
from n6build.compile.reference.ranges import RANGE, output_range
from n6build.compile.reference.reference_options import OptionsReader
from n6build.compile.reference.rules import CONVERT, INT8, Problem, Rule, check_nhwc, shown
from n6build.compile.reference.weights import (
    CONSTANTS,
    INPUTS,
    SCALING_MEMBERS,
    WEIGHT_MEMBERS,
    WEIGHTS,
    check_weights,
    convolution_arguments,
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

_KERNEL = Kernel(
    "depthwise_conv_2d",
    Structure(
        "n6k_depthwise_conv_2d_t",
        (
            *ENDS,
            *WEIGHT_MEMBERS,
            *SCALING_MEMBERS,
            Member("scratch", writes("int8_t")),
            *WINDOW_MEMBERS,
            Member("depth_multiplier", "uint16_t"),
            Member("input_zero_point", "int8_t"),
            Member("range", RANGE),
        ),
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
            "input": operands.source,
            "output": operands.output,
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


OPERATOR = OperatorKind(
    name="DEPTHWISE_CONV_2D",
    label="DepthwiseConv2D",
    options=OptionsReader(
        tflite.DepthwiseConv2DOptions, tflite.BuiltinOptions.DepthwiseConv2DOptions, read_convolution
    ),
    rule=Rule(inputs=INPUTS, required=2, constants=CONSTANTS, output=INT8, check=_check),
    lower=_lower,
    kernels=(_KERNEL, CONV_2D),
    takes_over=zero_point_of,
)
