"""DEQUANTIZE: int16 to float32."""

from __future__ import annotations

from n6build.compile.reference.descriptors import Kernel, Member, Structure, reads, writes
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import FLOAT32, INT16, Rule, check_elementwise

_KERNEL = Kernel(
    "dequantize_int16",
    Structure(
        "n6k_dequantize_int16_t",
        (
            Member("input", reads("int16_t")),
            Member("output", writes("float")),
            Member("elements", "uint32_t"),
            Member("scale", "float"),
        ),
        doc="int16 -> float32.",
    ),
)


def _lower(operands: Operands) -> KernelCall:
    return KernelCall(
        _KERNEL,
        {
            "input": operands.first,
            "output": operands.output,
            "elements": operands.first.elements,
            "scale": required_quantisation(operands.first).scale,
        },
    )


OPERATOR = OperatorKind(
    name="DEQUANTIZE int16",
    label="Dequantize",
    rule=Rule(inputs=(INT16,), required=1, constants=(), output=FLOAT32, check=check_elementwise),
    lower=_lower,
    kernels=(_KERNEL,),
)
