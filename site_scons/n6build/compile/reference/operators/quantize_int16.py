"""QUANTIZE to int16 from float32, int16 or 8 bits, or from int16 to int8."""

from __future__ import annotations

from n6build.compile.reference.descriptors import Kernel, Member, Structure, enumeration, reads, writes
from n6build.compile.reference.fixed_point import accumulator_multiplier
from n6build.compile.reference.graph import DType
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import EIGHT_BIT, FLOAT32, INT8, INT16, Rule, check_elementwise

_FROM_FLOAT = Kernel(
    "quantize_int16",
    Structure(
        "n6k_quantize_int16_t",
        (
            Member("input", reads("float")),
            Member("output", writes("int16_t")),
            Member("elements", "uint32_t"),
            Member("scale", "float"),
        ),
        doc="float32 -> int16: x / scale, rounded half away from zero, saturated.",
    ),
)
_KINDS: dict[DType, int] = {"int8": 0, "uint8": 1, "int16": 2}
_FROM_INTEGER = Kernel(
    "requantize_int16",
    Structure(
        "n6k_requantize_int16_t",
        (
            Member("input", reads("void")),
            Member("output", writes("void")),
            Member("elements", "uint32_t"),
            *(Member(name, "int32_t") for name in ("multiplier", "shift", "in_zero_point", "out_zero_point")),
            *(Member(name, "uint8_t") for name in ("in_kind", "out_kind")),
        ),
        doc="Between int16 and int16 or 8 bits; rounding as for int8 convolutions. in_kind, out_kind: N6K_INT8, ...",
        definitions=enumeration("N6K", _KINDS),
    ),
)


def _lower(operands: Operands) -> KernelCall:
    given, made = operands.first, operands.output
    target = required_quantisation(made)
    if given.dtype == "float32":
        return KernelCall(
            _FROM_FLOAT, {"input": given, "output": made, "elements": given.elements, "scale": target.scale}
        )
    source = required_quantisation(given)
    multiplier, shift = accumulator_multiplier(source.scale / target.scale)
    return KernelCall(
        _FROM_INTEGER,
        {
            "input": given,
            "output": made,
            "elements": given.elements,
            "multiplier": multiplier,
            "shift": shift,
            "in_zero_point": source.zero_point,
            "out_zero_point": target.zero_point,
            "in_kind": _KINDS[given.dtype],
            "out_kind": _KINDS[made.dtype],
        },
    )


OPERATOR = OperatorKind(
    name="QUANTIZE int16",
    label="Quantize",
    rule=Rule(
        inputs=((*EIGHT_BIT, *INT16, *FLOAT32),),
        required=1,
        constants=(),
        output=(*INT8, *INT16),
        check=check_elementwise,
    ),
    lower=_lower,
    kernels=(_FROM_FLOAT, _FROM_INTEGER),
)
