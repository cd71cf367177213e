"""Numbers brought to another scale, to 8 or 16 bits, or to float32.

Operators:
    DEQUANTIZE: 8 bits to float32.
    DEQUANTIZE int16: int16 to float32.
    QUANTIZE: float32 or int32 to 8 bits, or 8 bits to 8 bits with another scale.
    QUANTIZE int16: to int16 from float32, int16, int32 or 8 bits, or from int16 to int8.
    QUANTIZE unsigned: for models of uint8, in float32. A CONCATENATION of uint8 needs it for inputs
        with another scale than its output's.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from n6build.compile.reference.descriptors import Member, elements, enumeration, kernel_with, of_type
from n6build.compile.reference.fixed_point import accumulator_multiplier
from n6build.compile.reference.graph import DType
from n6build.compile.reference.kernel_call import Argument, KernelCall, element_arguments
from n6build.compile.reference.lookup import lookup_operator, saturated
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import (
    EIGHT_BIT,
    FLOAT32,
    INT8,
    INT16,
    INT32,
    QUANTISE,
    Problem,
    Rule,
    check_elementwise,
    shown,
)

_ELEMENTS = elements("void", "void")
_FROM_FLOAT = kernel_with(
    "quantize",
    *elements("float", "void"),
    Member("scale", "float"),
    Member("zero_point", "int32_t"),
    Member("out_is_unsigned", "uint8_t"),
    doc="float32 -> int8 or uint8: round half away from zero of x / scale, plus the zero point, saturated.",
)
_FROM_EIGHT_BIT = kernel_with(
    "requantize",
    *_ELEMENTS,
    *of_type("int32_t", "multiplier", "shift", "in_zero_point", "out_zero_point"),
    *of_type("uint8_t", "in_is_unsigned", "out_is_unsigned"),
    doc="int8 or uint8 -> int8 or uint8 with another scale and zero point; rounding as for convolutions. in_is_unsigned, "
    "out_is_unsigned: 0 or 1.",
    in_place=("input",),
)


def _lower(operands: Operands) -> KernelCall:
    if operands.first.dtype == "int32":
        return _lower_int16(operands)
    return _from_float(operands) if operands.first.dtype == "float32" else _from_eight_bit(operands)


def _from_float(operands: Operands) -> KernelCall:
    target = required_quantisation(operands.output)
    return KernelCall(
        _FROM_FLOAT,
        {
            **element_arguments(operands),
            "scale": target.scale,
            "zero_point": target.zero_point,
            "out_is_unsigned": int(operands.output.dtype == "uint8"),
        },
    )


def _scale_arguments(operands: Operands) -> dict[str, Argument]:
    """Return the arguments that bring integers to the scale of the output."""
    given, target = required_quantisation(operands.first), required_quantisation(operands.output)
    multiplier, shift = accumulator_multiplier(given.scale / target.scale)
    return {
        **element_arguments(operands),
        "multiplier": multiplier,
        "shift": shift,
        "in_zero_point": given.zero_point,
        "out_zero_point": target.zero_point,
    }


def _from_eight_bit(operands: Operands) -> KernelCall:
    return KernelCall(
        _FROM_EIGHT_BIT,
        {
            **_scale_arguments(operands),
            "in_is_unsigned": int(operands.first.dtype == "uint8"),
            "out_is_unsigned": int(operands.output.dtype == "uint8"),
        },
    )


_INT16_FROM_FLOAT = kernel_with(
    "quantize_int16",
    *elements("float", "int16_t"),
    Member("scale", "float"),
    doc="float32 -> int16: x / scale, rounded half away from zero, saturated.",
)
_KINDS: dict[DType, int] = {"int8": 0, "uint8": 1, "int16": 2, "int32": 3}
_FROM_INTEGER = kernel_with(
    "requantize_int16",
    *_ELEMENTS,
    *of_type("int32_t", "multiplier", "shift", "in_zero_point", "out_zero_point"),
    *of_type("uint8_t", "in_kind", "out_kind"),
    doc="Between int16 and int16 or 8 bits, and from int32; rounding as for int8 convolutions. in_kind, out_kind: N6K_INT8, ...",
    definitions=enumeration("N6K", _KINDS),
)


def _lower_int16(operands: Operands) -> KernelCall:
    given, made = operands.first, operands.output
    if given.dtype == "float32":
        scale = required_quantisation(made).scale
        return KernelCall(_INT16_FROM_FLOAT, {**element_arguments(operands), "scale": scale})
    return KernelCall(
        _FROM_INTEGER,
        {
            **_scale_arguments(operands),
            "in_kind": _KINDS[given.dtype],
            "out_kind": _KINDS[made.dtype],
        },
    )


# A zero point of int8 is less than that of uint8 by this number.
_HALF = 128


def _table(operands: Operands) -> NDArray[np.int8]:
    """Return the table; halves round away from zero."""
    given, target = required_quantisation(operands.first), required_quantisation(operands.output)
    scale = np.float32(given.scale) * (np.float32(1) / np.float32(target.scale))
    bias = np.float32(-(given.zero_point + _HALF)) * scale
    steps = (np.arange(256).astype(np.float32) * scale + bias).astype(np.float64)
    rounded = np.copysign(np.floor(np.abs(steps) + 0.5), steps)
    return saturated((rounded + target.zero_point).astype(np.float32))


_DEQUANTIZE = kernel_with(
    "dequantize",
    *elements("void", "float"),
    Member("scale", "float"),
    Member("zero_point", "int32_t"),
    Member("in_is_unsigned", "uint8_t"),
    doc="int8 or uint8 -> float32.",
)


def _dequantized(operands: Operands) -> KernelCall:
    given = required_quantisation(operands.first)
    return KernelCall(
        _DEQUANTIZE,
        {
            **element_arguments(operands),
            "scale": given.scale,
            "zero_point": given.zero_point,
            "in_is_unsigned": int(operands.first.dtype == "uint8"),
        },
    )


def _folded(operands: Operands) -> NDArray[np.float32] | None:
    """Return the values of a constant.

    The product is made in float64, as in the reference resolver.
    """
    first, given = operands.first, operands.first.quantisation
    if first.data is None or given is None or len(given.scales) != 1:
        return None
    return (given.scale * (first.data.astype(np.int64) - given.zero_point)).astype(np.float32)


_DEQUANTIZE_INT16 = kernel_with(
    "dequantize_int16",
    *elements("int16_t", "float"),
    Member("scale", "float"),
    doc="int16 -> float32.",
)


def _dequantized_int16(operands: Operands) -> KernelCall:
    return KernelCall(
        _DEQUANTIZE_INT16, {**element_arguments(operands), "scale": required_quantisation(operands.first).scale}
    )


def _rule(given: tuple[DType, ...], made: tuple[DType, ...]) -> Rule:
    return Rule((given,), 1, (), made, check_elementwise)


def _check_quantised(operands: Operands) -> Iterator[Problem]:
    yield from check_elementwise(operands)
    given = operands.first.quantisation
    if operands.first.dtype == "int32" and (given is None or len(given.scales) != 1):
        yield Problem("N6-NET-006", f"tensor {shown(operands.first)} has no single scale", QUANTISE)


_OF_INT16 = Rule(((*EIGHT_BIT, *INT16, *INT32, *FLOAT32),), 1, (), (*INT8, *INT16), _check_quantised)
_OF_8_BITS = Rule(((*EIGHT_BIT, *INT32, *FLOAT32),), 1, (), EIGHT_BIT, _check_quantised)
OPERATORS = (
    OperatorKind("DEQUANTIZE", "Dequantize", _rule(EIGHT_BIT, FLOAT32), _dequantized, (_DEQUANTIZE,), fold=_folded),
    OperatorKind("DEQUANTIZE int16", "Dequantize", _rule(INT16, FLOAT32), _dequantized_int16, (_DEQUANTIZE_INT16,)),
    OperatorKind("QUANTIZE", "Quantize", _OF_8_BITS, _lower, (_FROM_FLOAT, _FROM_EIGHT_BIT, _FROM_INTEGER)),
    OperatorKind("QUANTIZE int16", "Quantize", _OF_INT16, _lower_int16, (_INT16_FROM_FLOAT, _FROM_INTEGER)),
    lookup_operator("QUANTIZE unsigned", "Quantize", _table),
)
