"""MUL: the product of two int16 tensors whose shapes broadcast."""

from __future__ import annotations

import tflite

from n6build.compile.reference import int16
from n6build.compile.reference.broadcasting import IN_PLACE, broadcast_arguments, broadcast_members, check_broadcast
from n6build.compile.reference.descriptors import Kernel, Member, Structure
from n6build.compile.reference.fixed_point import accumulator_multiplier
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.operators.mul import product_of_scales
from n6build.compile.reference.products import real_multiplier
from n6build.compile.reference.ranges import activation_of, read_fused_activation
from n6build.compile.reference.reference_options import OptionsReader
from n6build.compile.reference.rules import INT16, Rule

_KERNEL = Kernel(
    "mul_int16",
    Structure(
        "n6k_mul_int16_t",
        (
            *broadcast_members("int16_t"),
            Member("multiplier", "int32_t"),
            Member("shift", "int32_t"),
            Member("range", int16.RANGE),
        ),
        doc="Rounding: double.",
    ),
    IN_PLACE,
)


def _lower(operands: Operands) -> KernelCall:
    multiplier, shift = accumulator_multiplier(real_multiplier(operands, product_of_scales))
    return KernelCall(
        _KERNEL,
        {
            **broadcast_arguments(operands),
            "multiplier": multiplier,
            "shift": shift,
            "range": int16.output_range(operands.output, activation_of(operands)),
        },
    )


OPERATOR = OperatorKind(
    name="MUL int16",
    label="Mul",
    options=OptionsReader(tflite.MulOptions, tflite.BuiltinOptions.MulOptions, read_fused_activation),
    rule=Rule((INT16, INT16), 2, (), INT16, check_broadcast, first_may_be_constant=True),
    lower=_lower,
    kernels=(_KERNEL,),
)
