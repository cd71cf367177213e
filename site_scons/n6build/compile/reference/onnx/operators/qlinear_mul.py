"""QLinearMul: the product of two tensors as integers, scaled in float32."""

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
    "qlinear_mul",
    Structure(
        "n6k_qlinear_mul_t",
        (
            *OPERAND_MEMBERS,
            Member("ratio", "float"),
            Member("zero_point", "float"),
            Member("output_offset", "int32_t"),
            Member("a_zero_point", "int8_t"),
            Member("b_zero_point", "int8_t"),
            Member("range", RANGE),
        ),
        doc="The product of both less their zero points, times ratio, plus zero_point, in float32, rounded half to even, less "
        "output_offset, 128 where the model has uint8.",
    ),
    in_place=("a", "b"),
)


def _lower(operands: Operands) -> KernelCall:
    a, b, target = quantisations(operands)
    offset = binary_options(operands).offsets[2]
    return KernelCall(
        _KERNEL,
        {
            **operand_arguments(operands),
            "ratio": float(np.float32(a.scale) * np.float32(b.scale) / np.float32(target.scale)),
            "zero_point": float(target.zero_point + offset),
            "output_offset": offset,
            "a_zero_point": a.zero_point,
            "b_zero_point": b.zero_point,
            "range": limited_range(operands.output, -math.inf, math.inf),
        },
    )


OPERATOR = OperatorKind(name="QLinearMul", label="QLinearMul", rule=RULE, lower=_lower, kernels=(_KERNEL,))
