"""Operators of two tensors that are computed in float32 step by step."""

from __future__ import annotations

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

_BINARY = Structure(
    "n6k_real_binary_t",
    (
        *OPERAND_MEMBERS,
        Member("a_scale", "float"),
        Member("b_scale", "float"),
        Member("output_scale", "float"),
        Member("a_zero_point", "int8_t"),
        Member("b_zero_point", "int8_t"),
        Member("range", RANGE),
    ),
    doc="(a - zero point) * scale with the same of b, in float32; the result divided by output_scale and rounded half to even.",
)


def real_operator(name: str) -> OperatorKind:
    """Return an operator with this name in ONNX, computed in float32."""
    kernel = Kernel(f"real_{name.lower()}", _BINARY, in_place=("a", "b"))

    def lower(operands: Operands) -> KernelCall:
        options = binary_options(operands)
        a, b, target = quantisations(operands)
        return KernelCall(
            kernel,
            {
                **operand_arguments(operands),
                "a_scale": a.scale,
                "b_scale": b.scale,
                "output_scale": target.scale,
                "a_zero_point": a.zero_point,
                "b_zero_point": b.zero_point,
                "range": limited_range(operands.output, options.low, options.high),
            },
        )

    return OperatorKind(name=name, label=name, rule=RULE, lower=lower, kernels=(kernel,))
