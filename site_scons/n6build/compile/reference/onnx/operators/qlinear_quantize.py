"""QuantizeLinear: float32 to int8, halves to even."""

from __future__ import annotations

from n6build.compile.reference.descriptors import Member, elements, kernel_with
from n6build.compile.reference.kernel_call import KernelCall, element_arguments
from n6build.compile.reference.onnx.limits import limited_range
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.ranges import RANGE
from n6build.compile.reference.rules import FLOAT32, INT8, Rule, check_elementwise

_KERNEL = kernel_with(
    "qlinear_quantize",
    *elements("float", "int8_t"),
    Member("scale", "float"),
    Member("range", RANGE),
    doc="float32 -> int8: the nearest integer to x / scale, halves to even, plus the zero point, saturated.",
)


def _lower(operands: Operands) -> KernelCall:
    scale = required_quantisation(operands.output).scale
    limits = limited_range(operands.output)
    return KernelCall(_KERNEL, {**element_arguments(operands), "scale": scale, "range": limits})


OPERATORS = (
    OperatorKind(
        name="QuantizeLinear",
        label="QuantizeLinear",
        rule=Rule(inputs=(FLOAT32,), required=1, constants=(), output=INT8, check=check_elementwise),
        lower=_lower,
        kernels=(_KERNEL,),
    ),
)
