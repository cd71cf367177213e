"""Softmax of an int8 tensor over its last dimension, as float32."""

from __future__ import annotations

from n6build.compile.reference.descriptors import Kernel, Member, Structure, reads, writes
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.onnx.rows import row_arguments
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import FLOAT32, INT8, Rule, check_elementwise

_KERNEL = Kernel(
    "real_softmax",
    Structure(
        "n6k_real_softmax_t",
        (
            Member("input", reads("int8_t")),
            Member("output", writes("float")),
            Member("rows", "uint32_t"),
            Member("depth", "uint32_t"),
            Member("scale", "float"),
            Member("zero_point", "int32_t"),
        ),
        doc="Row by row: (x - zero_point) * scale less the row's largest; its exponential by a polynomial; the sum of "
        "16 sums side by side; each exponential times the reciprocal of the sum. As ONNX Runtime has it with vectors of 16, and "
        "of 8 for at most 16 elements.",
    ),
)


def _lower(operands: Operands) -> KernelCall:
    given = required_quantisation(operands.first)
    return KernelCall(
        _KERNEL,
        {
            **row_arguments(operands),
            "scale": given.scale,
            "zero_point": given.zero_point,
        },
    )


OPERATOR = OperatorKind(
    name="Softmax",
    label="Softmax",
    rule=Rule(inputs=(INT8,), required=1, constants=(), output=FLOAT32, check=check_elementwise),
    lower=_lower,
    kernels=(_KERNEL,),
)
