"""Operators on float32 tensors, without scales.

Models use them to compute positions behind their quantised part. Each operation rounds once.
Results are those of IEEE 754, also for a divisor of 0 and for the square root of a negative number.
The bits of a NaN are unspecified.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from n6build.compile.reference.broadcasting import IN_PLACE, broadcast_arguments, broadcast_members, check_broadcast
from n6build.compile.reference.descriptors import (
    Member,
    elements,
    enumeration,
    kernel_with,
    of_type,
)
from n6build.compile.reference.kernel_call import KernelCall, element_arguments
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.ranges import activation_of, real_limits
from n6build.compile.reference.rules import FLOAT32, Rule, check_elementwise


def _numbered(*names: str) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}


# The operators, and the number of each in a descriptor.
_ARITHMETIC = _numbered("ADD", "SUB", "MUL", "DIV", "MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE", "FLOOR_DIV")
_FUNCTIONS = _numbered("SQRT", "RSQRT", "ABS", "SQUARE", "FLOOR", "RELU", "RELU6")
# Operators with a range. Without an activation, it ends at the largest finite float32 in models of LiteRT.
_CLAMPED = ("ADD", "SUB", "MUL", "DIV")
_LARGEST = float(np.finfo(np.float32).max)
_PREFIX = "N6K_FLOAT32"

_ARITHMETIC_KERNEL = kernel_with(
    "arithmetic_float32",
    *broadcast_members("float"),
    *of_type("float", "clamp_min", "clamp_max"),
    Member("operation", "uint8_t", note="N6K_FLOAT32_..."),
    doc="Of two float32 operands; the range is that of all numbers, without infinity, where nothing is clamped.",
    definitions=enumeration(_PREFIX, _ARITHMETIC),
    in_place=IN_PLACE,
)
_FUNCTION_KERNEL = kernel_with(
    "function_float32",
    *elements("float", "float"),
    Member("function", "uint8_t", note="N6K_FLOAT32_..."),
    doc="Of one float32 element.",
    definitions=enumeration(_PREFIX, _FUNCTIONS),
    in_place=("input",),
)


@dataclass(frozen=True)
class Unlimited:
    """Options of an operator whose results may be infinite, as in ONNX."""


def float_arithmetic(name: str, label: str) -> OperatorKind:
    """Return a float32 operator of two tensors whose shapes broadcast."""

    def lower(operands: Operands) -> KernelCall:
        low, high = real_limits(activation_of(operands))
        is_unlimited = isinstance(operands.operator.options, Unlimited)
        most = _LARGEST if name in _CLAMPED and not is_unlimited else math.inf
        return KernelCall(
            _ARITHMETIC_KERNEL,
            {
                **broadcast_arguments(operands),
                "clamp_min": -most if low is None else low,
                "clamp_max": most if high is None else high,
                "operation": _ARITHMETIC[name],
            },
        )

    rule = Rule((FLOAT32, FLOAT32), 2, (), FLOAT32, check_broadcast, first_may_be_constant=True)
    return OperatorKind(name, label, rule, lower, (_ARITHMETIC_KERNEL,))


def float_function(name: str, label: str) -> OperatorKind:
    """Return a float32 operator of one tensor."""

    def lower(operands: Operands) -> KernelCall:
        return KernelCall(
            _FUNCTION_KERNEL,
            {
                **element_arguments(operands),
                "function": _FUNCTIONS[name],
            },
        )

    rule = Rule((FLOAT32,), 1, (), FLOAT32, check_elementwise)
    return OperatorKind(name, label, rule, lower, (_FUNCTION_KERNEL,))
