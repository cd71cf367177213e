"""QLinearAdd: the sum of two tensors, with their scales divided by the output's."""

from __future__ import annotations

import math

import numpy as np

from n6build.compile.reference.descriptors import Kernel, Member, Structure
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.onnx.binary import (
    OPERAND_MEMBERS,
    RULE,
    binary_options,
    operand_arguments,
    quantisations,
)
from n6build.compile.reference.onnx.limits import limited_range
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.ranges import RANGE

_KERNEL = Kernel(
    "qlinear_add",
    Structure(
        "n6k_qlinear_add_t",
        (
            *OPERAND_MEMBERS,
            Member("a_ratio", "float"),
            Member("b_ratio", "float"),
            Member("constant", "float"),
            Member("a_offset", "int32_t"),
            Member("b_offset", "int32_t"),
            Member("output_offset", "int32_t"),
            Member("range", RANGE),
        ),
        doc="fma(a_ratio, a + a_offset, fma(b_ratio, b + b_offset, constant)) in float32, rounded half to even, less "
        "output_offset. Offsets are 128 where the model has uint8, otherwise 0.",
    ),
    in_place=("a", "b"),
)


def _lower(operands: Operands) -> KernelCall:
    a, b, target = quantisations(operands)
    of_a, of_b, of_output = binary_options(operands).offsets
    ratio_a, ratio_b = (np.float32(each.scale) / np.float32(target.scale) for each in (a, b))
    shift = ratio_a * np.float32(a.zero_point + of_a) + ratio_b * np.float32(b.zero_point + of_b)
    return KernelCall(
        _KERNEL,
        {
            **operand_arguments(operands),
            "a_ratio": float(ratio_a),
            "b_ratio": float(ratio_b),
            "constant": float(np.float32(target.zero_point + of_output) - shift),
            "a_offset": of_a,
            "b_offset": of_b,
            "output_offset": of_output,
            "range": limited_range(operands.output, -math.inf, math.inf),
        },
    )


OPERATOR = OperatorKind(name="QLinearAdd", label="QLinearAdd", rule=RULE, lower=_lower, kernels=(_KERNEL,))
