"""PRELU: negative values times alpha, a tensor that broadcasts."""

from __future__ import annotations

import numpy as np

from n6build.compile.reference.broadcasting import BROADCAST_MEMBERS, IN_PLACE, broadcast_arguments, check_broadcast
from n6build.compile.reference.descriptors import Member, kernel_with, of_type
from n6build.compile.reference.fixed_point import accumulator_multiplier
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.ranges import RANGE, output_range
from n6build.compile.reference.rules import INT8, Rule

_KERNEL = kernel_with(
    "prelu",
    *BROADCAST_MEMBERS,
    *of_type("int32_t", "positive_multiplier", "positive_shift", "negative_multiplier", "negative_shift"),
    *of_type("int8_t", "a_zero_point", "b_zero_point"),
    Member("range", RANGE),
    doc="x = a - a_zero_point; where that is negative, x * (b - b_zero_point) scaled by negative_multiplier, else x scaled "
    "by positive_multiplier; rounding as for convolutions.",
    in_place=IN_PLACE,
)


def _lower(operands: Operands) -> KernelCall:
    a, b, target = (required_quantisation(each) for each in (operands.first, operands.required(1), operands.output))
    # The reference resolver computes these scales in float32.
    given = np.float32(a.scale)
    positive_multiplier, positive_shift = accumulator_multiplier(float(given / np.float32(target.scale)))
    negative_multiplier, negative_shift = accumulator_multiplier(
        float(given * np.float32(b.scale) / np.float32(target.scale))
    )
    return KernelCall(
        _KERNEL,
        {
            **broadcast_arguments(operands),
            "positive_multiplier": positive_multiplier,
            "positive_shift": positive_shift,
            "negative_multiplier": negative_multiplier,
            "negative_shift": negative_shift,
            "a_zero_point": a.zero_point,
            "b_zero_point": b.zero_point,
            "range": output_range(operands.output, "NONE"),
        },
    )


OPERATORS = (
    OperatorKind(
        name="PRELU",
        label="Prelu",
        rule=Rule((INT8, INT8), 2, (), INT8, check_broadcast),
        lower=_lower,
        kernels=(_KERNEL,),
    ),
)
