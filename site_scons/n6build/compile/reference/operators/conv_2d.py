"""Convolutions over height and width, in one group.

Operators:
    CONV_2D: convolution over height and width, in one group.
    CONV_2D asymmetric: with weights that have a zero point, as in models of uint8.
    CONV_2D int16: with int16 activations and int8 weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import tflite

from n6build.compile.reference import int16
from n6build.compile.reference.descriptors import ENDS, Member, kernel_with, writes
from n6build.compile.reference.kernel_call import Argument, KernelCall, Scratch, ends, recast
from n6build.compile.reference.operands import Operands, required_quantisation, zero_point_of
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.ranges import RANGE, output_range
from n6build.compile.reference.reference_options import OptionsReader
from n6build.compile.reference.rules import INT8, INT16, INT64, Problem, Rule, check_nhwc, shown
from n6build.compile.reference.weights import (
    CONSTANTS,
    INPUTS,
    SCALING_MEMBERS,
    WEIGHT_MEMBERS,
    WEIGHTS,
    check_weights,
    convolution_arguments,
    weights_zero_point,
)
from n6build.compile.reference.windows import (
    WINDOW_MEMBERS,
    check_window,
    read_convolution,
    window_arguments,
    window_options,
)

_OUTPUT_CHANNELS = 0  # the axis of the weights
_SCRATCH_ALIGNMENT = 16

CONV_2D = kernel_with(
    "conv_2d",
    *ENDS,
    *WEIGHT_MEMBERS,
    *SCALING_MEMBERS,
    Member("scratch", writes("int8_t")),
    *WINDOW_MEMBERS,
    Member("input_zero_point", "int8_t"),
    Member("range", RANGE),
    doc="weights [output channel][window height][window width][input channel]; bias, multiplier, shift: one per output "
    "channel. scratch: N6K_CONV_2D_SCRATCH bytes, 16-byte aligned. Rounding: double (saturating doubling high multiply, "
    "then rounding shift), as the reference resolver does for convolutions.",
    definitions="""\
/* Bytes of scratch: the window's column (height * width * input channels, rounded up to 16) of two neighbouring output
 * pixels, which are computed together. */
#define N6K_CONV_2D_SCRATCH(window_h, window_w, in_channels) (2 * ((((window_h) * (window_w) * (in_channels)) + 15) & ~15))
""",
)


def _check(operands: Operands) -> Iterator[Problem]:
    weights = operands.required(WEIGHTS)
    yield from check_nhwc(operands.first, operands.output)
    if len(weights.shape) != 4 or weights.shape[3] != operands.first.shape[3]:
        yield Problem(
            "N6-NET-007",
            f"tensor {shown(weights)} of shape {list(weights.shape)} does not fit {operands.first.shape[3]} input channels",
            "use one group: grouped convolutions are not supported",
        )
        return
    channels, height, width, _ = weights.shape
    yield from check_weights(operands, _OUTPUT_CHANNELS)
    yield from check_window(operands, height, width, channels)


def _lower(operands: Operands) -> KernelCall:
    _, height, width, _ = operands.required(WEIGHTS).shape
    return convolution_call(operands, convolution_arguments(operands, _OUTPUT_CHANNELS), height, width)


def convolution_call(operands: Operands, arguments: Mapping[str, Argument], height: int, width: int) -> KernelCall:
    """Return the kernel call of a convolution.

    Args:
        operands: Operands of the operator.
        arguments: Weights, biases and scaling.
        height: Height of the window.
        width: Width of the window.
    """
    depth = operands.source.shape[3]
    column = -(-height * width * depth // _SCRATCH_ALIGNMENT) * _SCRATCH_ALIGNMENT
    return KernelCall(
        CONV_2D,
        {
            **ends(operands),
            **arguments,
            "scratch": Scratch(2 * column, least=f"N6K_CONV_2D_SCRATCH({height}, {width}, {depth})"),
            **window_arguments(operands, height, width),
            "input_zero_point": required_quantisation(operands.source).zero_point,
            "range": output_range(operands.output, window_options(operands).activation),
        },
        macs=operands.output.elements * height * width * depth,
    )


_OPERATOR = OperatorKind(
    name="CONV_2D",
    label="Conv2D",
    options=OptionsReader(tflite.Conv2DOptions, read_convolution),
    rule=Rule(inputs=INPUTS, required=2, constants=CONSTANTS, output=INT8, check=_check),
    lower=_lower,
    kernels=(CONV_2D,),
    takes_over=zero_point_of,
)


_SYMMETRIC = _OPERATOR.kernels[0].descriptor
_ASYMMETRIC = kernel_with(
    "conv_2d_asymmetric",
    *_SYMMETRIC.members,
    Member("weights_zero_point", "int8_t"),
    doc=f"As {_SYMMETRIC.name}, by weights of which weights_zero_point is taken.",
)


def _lower_asymmetric(operands: Operands) -> KernelCall:
    zero_point = weights_zero_point(operands)
    return recast(_OPERATOR.lower(operands), _ASYMMETRIC, {"weights_zero_point": zero_point})


_INT16 = kernel_with(
    "conv_2d_int16",
    *int16.ENDS,
    *int16.WEIGHT_MEMBERS,
    *int16.SCALING_MEMBERS,
    Member("scratch", writes("int8_t")),
    *WINDOW_MEMBERS,
    Member("range", int16.RANGE),
    doc="weights [output channel][window height][window width][input channel]. Accumulators have 64 bits; their scaling "
    "is one product and one shift, halves rounded up. scratch: N6K_CONV_2D_INT16_SCRATCH bytes, 16-byte aligned.",
    definitions="""\
/* Bytes of scratch: the window's column of two neighbouring output pixels. */
#define N6K_CONV_2D_INT16_SCRATCH(window_h, window_w, in_channels) \\
    (2 * ((2 * ((window_h) * (window_w) * (in_channels)) + 15) & ~15))
""",
)


def _lower_int16(operands: Operands) -> KernelCall:
    _, height, width, depth = operands.required(WEIGHTS).shape
    column = -(-2 * height * width * depth // _SCRATCH_ALIGNMENT) * _SCRATCH_ALIGNMENT
    changed = {
        **int16.convolution_arguments(operands, _OUTPUT_CHANNELS),
        "scratch": Scratch(2 * column, least=f"N6K_CONV_2D_INT16_SCRATCH({height}, {width}, {depth})"),
        "range": int16.output_range(operands.output, window_options(operands).activation),
    }
    return recast(_OPERATOR.lower(operands), _INT16, changed)


OPERATORS = (
    _OPERATOR,
    replace(_OPERATOR, name="CONV_2D asymmetric", lower=_lower_asymmetric, kernels=(_ASYMMETRIC,)),
    replace(
        _OPERATOR,
        name="CONV_2D int16",
        rule=replace(_OPERATOR.rule, inputs=(INT16, INT8, INT64), required=3, output=INT16),
        lower=_lower_int16,
        kernels=(_INT16,),
    ),
)
