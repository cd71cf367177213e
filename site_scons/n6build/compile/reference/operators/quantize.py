"""QUANTIZE: float32 to 8 bits, or 8 bits to 8 bits with another scale."""

from __future__ import annotations

from n6build.compile.reference.descriptors import Kernel, Member, Structure, reads, writes
from n6build.compile.reference.fixed_point import accumulator_multiplier
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import EIGHT_BIT, FLOAT32, Rule, check_elementwise

_FROM_FLOAT = Kernel(
    "quantize",
    Structure(
        "n6k_quantize_t",
        (
            Member("input", reads("float")),
            Member("output", writes("void")),
            Member("elements", "uint32_t"),
            Member("scale", "float"),
            Member("zero_point", "int32_t"),
            Member("out_is_unsigned", "uint8_t"),
        ),
        doc="float32 -> int8 or uint8: round half away from zero of x / scale, plus the zero point, saturated.",
    ),
)
_FROM_EIGHT_BIT = Kernel(
    "requantize",
    Structure(
        "n6k_requantize_t",
        (
            Member("input", reads("void")),
            Member("output", writes("void")),
            Member("elements", "uint32_t"),
            Member("multiplier", "int32_t"),
            Member("shift", "int32_t"),
            Member("in_zero_point", "int32_t"),
            Member("out_zero_point", "int32_t"),
            Member("in_is_unsigned", "uint8_t"),
            Member("out_is_unsigned", "uint8_t"),
        ),
        doc="int8 or uint8 -> int8 or uint8 with another scale and zero point; rounding as for convolutions. in_is_unsigned, "
        "out_is_unsigned: 0 or 1.",
    ),
    in_place=("input",),
)


def _lower(operands: Operands) -> KernelCall:
    return _from_float(operands) if operands.first.dtype == "float32" else _from_eight_bit(operands)


def _from_float(operands: Operands) -> KernelCall:
    target = required_quantisation(operands.output)
    return KernelCall(
        _FROM_FLOAT,
        {
            "input": operands.first,
            "output": operands.output,
            "elements": operands.first.elements,
            "scale": target.scale,
            "zero_point": target.zero_point,
            "out_is_unsigned": int(operands.output.dtype == "uint8"),
        },
    )


def _from_eight_bit(operands: Operands) -> KernelCall:
    given, target = required_quantisation(operands.first), required_quantisation(operands.output)
    multiplier, shift = accumulator_multiplier(given.scale / target.scale)
    return KernelCall(
        _FROM_EIGHT_BIT,
        {
            "input": operands.first,
            "output": operands.output,
            "elements": operands.first.elements,
            "multiplier": multiplier,
            "shift": shift,
            "in_zero_point": given.zero_point,
            "out_zero_point": target.zero_point,
            "in_is_unsigned": int(operands.first.dtype == "uint8"),
            "out_is_unsigned": int(operands.output.dtype == "uint8"),
        },
    )


OPERATOR = OperatorKind(
    name="QUANTIZE",
    label="Quantize",
    rule=Rule(inputs=((*EIGHT_BIT, *FLOAT32),), required=1, constants=(), output=EIGHT_BIT, check=check_elementwise),
    lower=_lower,
    kernels=(_FROM_FLOAT, _FROM_EIGHT_BIT),
)
