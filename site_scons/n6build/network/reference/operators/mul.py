"""MUL: the product of two tensors whose shapes broadcast."""

from __future__ import annotations

import numpy as np
import tflite

from n6build.network.reference.broadcasting import BROADCAST_MEMBERS, IN_PLACE, broadcast_arguments, check_broadcast
from n6build.network.reference.descriptors import Kernel, Member, Structure
from n6build.network.reference.fixed_point import accumulator_multiplier
from n6build.network.reference.kernel_call import KernelCall
from n6build.network.reference.operands import Operands, required_quantisation
from n6build.network.reference.operator_kind import OperatorKind
from n6build.network.reference.options import OptionsReader
from n6build.network.reference.ranges import RANGE, activation_of, output_range, read_fused_activation
from n6build.network.reference.rules import INT8, Rule

_KERNEL = Kernel(
    "mul",
    Structure(
        "n6k_mul_t",
        (
            *BROADCAST_MEMBERS,
            Member("multiplier", "int32_t"),
            Member("shift", "int32_t"),
            Member("a_zero_point", "int8_t"),
            Member("b_zero_point", "int8_t"),
            Member("range", RANGE),
        ),
        doc="(a - a_zero_point) * (b - b_zero_point), scaled to the output; rounding as for convolutions.",
    ),
    IN_PLACE,
)


def _lower(operands: Operands) -> KernelCall:
    a, b, target = (required_quantisation(each) for each in (operands.first, operands.required(1), operands.output))
    # In float32, as the reference resolver computes it.
    real = np.float32(a.scale) * np.float32(b.scale) / np.float32(target.scale)
    multiplier, shift = accumulator_multiplier(float(real))
    return KernelCall(
        _KERNEL,
        {
            **broadcast_arguments(operands),
            "multiplier": multiplier,
            "shift": shift,
            "a_zero_point": a.zero_point,
            "b_zero_point": b.zero_point,
            "range": output_range(operands.output, activation_of(operands)),
        },
    )


OPERATOR = OperatorKind(
    name="MUL",
    label="Mul",
    options=OptionsReader(tflite.MulOptions, tflite.BuiltinOptions.MulOptions, read_fused_activation),
    rule=Rule((INT8, INT8), 2, (), INT8, check_broadcast, first_may_be_constant=True),
    lower=_lower,
    kernels=(_KERNEL,),
)
