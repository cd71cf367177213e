"""CONV_2D with int16 activations and int8 weights."""

from __future__ import annotations

from dataclasses import replace

from n6build.compile.reference import int16
from n6build.compile.reference.descriptors import Kernel, Member, Structure, writes
from n6build.compile.reference.kernel_call import KernelCall, Scratch, recast
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operators import conv_2d
from n6build.compile.reference.rules import INT8, INT16, INT64
from n6build.compile.reference.weights import WEIGHTS
from n6build.compile.reference.windows import WINDOW_MEMBERS, window_options

_OUTPUT_CHANNELS = 0  # the axis of the weights
_SCRATCH_ALIGNMENT = 16

_KERNEL = Kernel(
    "conv_2d_int16",
    Structure(
        "n6k_conv_2d_int16_t",
        (
            *int16.ENDS,
            *int16.WEIGHT_MEMBERS,
            *int16.SCALING_MEMBERS,
            Member("scratch", writes("int8_t")),
            *WINDOW_MEMBERS,
            Member("range", int16.RANGE),
        ),
        doc="weights [output channel][window height][window width][input channel]. Accumulators have 64 bits; their scaling "
        "is one product and one shift, halves rounded up. scratch: N6K_CONV_2D_INT16_SCRATCH bytes, 16-byte aligned.",
        definitions="""\
/* Bytes of scratch: the window's column of two neighbouring output pixels. */
#define N6K_CONV_2D_INT16_SCRATCH(window_h, window_w, in_channels) \\
    (2 * ((2 * ((window_h) * (window_w) * (in_channels)) + 15) & ~15))
""",
    ),
)


def _lower(operands: Operands) -> KernelCall:
    _, height, width, depth = operands.required(WEIGHTS).shape
    column = -(-2 * height * width * depth // _SCRATCH_ALIGNMENT) * _SCRATCH_ALIGNMENT
    changed = {
        **int16.convolution_arguments(operands, _OUTPUT_CHANNELS),
        "scratch": Scratch(2 * column, least=f"N6K_CONV_2D_INT16_SCRATCH({height}, {width}, {depth})"),
        "range": int16.output_range(operands.output, window_options(operands).activation),
    }
    return recast(conv_2d.OPERATOR.lower(operands), _KERNEL, changed)


OPERATOR = replace(
    conv_2d.OPERATOR,
    name="CONV_2D int16",
    rule=replace(conv_2d.OPERATOR.rule, inputs=(INT16, INT8, INT64), required=3, output=INT16),
    lower=_lower,
    kernels=(_KERNEL,),
)
