"""DEQUANTIZE: 8 bits to float32."""

from __future__ import annotations

from n6build.compile.reference.descriptors import Kernel, Member, Structure, reads, writes
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import EIGHT_BIT, FLOAT32, Rule, check_elementwise

_KERNEL = Kernel(
    "dequantize",
    Structure(
        "n6k_dequantize_t",
        (
            Member("input", reads("void")),
            Member("output", writes("float")),
            Member("elements", "uint32_t"),
            Member("scale", "float"),
            Member("zero_point", "int32_t"),
            Member("in_is_unsigned", "uint8_t"),
        ),
        doc="int8 or uint8 -> float32.",
    ),
)


def _lower(operands: Operands) -> KernelCall:
    given = required_quantisation(operands.first)
    return KernelCall(
        _KERNEL,
        {
            "input": operands.first,
            "output": operands.output,
            "elements": operands.first.elements,
            "scale": given.scale,
            "zero_point": given.zero_point,
            "in_is_unsigned": int(operands.first.dtype == "uint8"),
        },
    )


OPERATOR = OperatorKind(
    name="DEQUANTIZE",
    label="Dequantize",
    rule=Rule(inputs=(EIGHT_BIT,), required=1, constants=(), output=FLOAT32, check=check_elementwise),
    lower=_lower,
    kernels=(_KERNEL,),
)
