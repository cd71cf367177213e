"""Products and quotients of two tensors whose shapes broadcast.

Operators:
    DIV: the quotient of two tensors whose shapes broadcast. The reference resolver stops at a
        divisor of 0. Here the quotient is then the end of the range on the dividend's side, and 0
        for a dividend of 0.
    FLOOR_DIV: the quotient of two tensors, rounded down.
    FLOOR_MOD: the remainder of a quotient rounded down, of int32 tensors. It has the sign of the
        divisor.
    MUL: the product of two tensors whose shapes broadcast.
    MUL int16: the product of two int16 tensors whose shapes broadcast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import tflite

from n6build.compile.reference import int16
from n6build.compile.reference.broadcasting import (
    BROADCAST_MEMBERS,
    IN_PLACE,
    broadcast_arguments,
    broadcast_members,
    check_broadcast,
)
from n6build.compile.reference.descriptors import Kernel, Member, Structure, of_type
from n6build.compile.reference.fixed_point import INT8_MAX, INT8_MIN, accumulator_multiplier, quantize_multiplier
from n6build.compile.reference.float32 import float_arithmetic
from n6build.compile.reference.integers import integer_operator
from n6build.compile.reference.kernel_call import Argument, KernelCall
from n6build.compile.reference.operands import Operands, required_quantisation, zero_point_of
from n6build.compile.reference.operator_kind import OperatorKind, also_of
from n6build.compile.reference.ranges import RANGE, activation_of, output_range, read_fused_activation
from n6build.compile.reference.reference_options import OptionsReader
from n6build.compile.reference.rules import INT8, INT16, QUANTISE, Problem, Rule, shown

# Function from the scales of both inputs and the output to the kernel's factor.
_Scaling = Callable[[np.float32, np.float32, np.float32], np.float32]

_PRODUCT = Structure(
    "n6k_product_t",
    (
        *BROADCAST_MEMBERS,
        *of_type("int32_t", "multiplier", "shift"),
        *of_type("int8_t", "a_zero_point", "b_zero_point"),
        Member("range", RANGE),
    ),
    doc="(a - a_zero_point) times, or divided by, (b - b_zero_point), scaled to the output; rounding as for convolutions.",
)
_PRODUCT_INT16 = Structure(
    "n6k_mul_int16_t",
    (*broadcast_members("int16_t"), *of_type("int32_t", "multiplier", "shift"), Member("range", int16.RANGE)),
    doc="Rounding: double.",
)
# Bits without information in front of a dividend: the fewest, for a magnitude of 255, and the most, for 0 and -1.
_LEAST_HEADROOM, _MOST_HEADROOM = 23, 31
# The kernel shifts to the right by the bits in front of the dividend, plus the bits of the divisor behind its first one,
# minus the shift of the scaling.
_MOST_SHIFT = 63


def _scale_of_product(a: np.float32, b: np.float32, output: np.float32) -> np.float32:
    return a * b / output


def _scale_of_quotient(a: np.float32, b: np.float32, output: np.float32) -> np.float32:
    return a / (b * output)


def _real_multiplier(operands: Operands, scaling: _Scaling) -> float:
    """Return the kernel's factor, in float32 as the reference resolver computes it."""
    tensors = (operands.first, operands.required(1), operands.output)
    return float(scaling(*(np.float32(required_quantisation(tensor).scale) for tensor in tensors)))


def _scaled(operands: Operands, scaling: _Scaling) -> dict[str, Argument]:
    """Return the arguments for the operands and their scaling."""
    multiplier, shift = accumulator_multiplier(_real_multiplier(operands, scaling))
    return {**broadcast_arguments(operands), "multiplier": multiplier, "shift": shift}


def _product(
    name: str, label: str, options: type, scaling: _Scaling, check: Callable[[Operands], Iterator[Problem]]
) -> OperatorKind:
    """Return an operator whose kernel is n6k_<name>, in lower case.

    Args:
        name: Name of the operator in the schema.
        label: Name of the operator in reports.
        options: Table with the fused activation.
        scaling: Function that returns the kernel's factor.
        check: Check of the operands.
    """
    kernel = Kernel(name.lower(), _PRODUCT, IN_PLACE)

    def lower(operands: Operands) -> KernelCall:
        arguments: dict[str, Argument] = {
            **_scaled(operands, scaling),
            "a_zero_point": zero_point_of(operands.first),
            "b_zero_point": zero_point_of(operands.required(1)),
            "range": output_range(operands.output, activation_of(operands)),
        }
        return KernelCall(kernel, arguments)

    rule = Rule((INT8, INT8), 2, (), INT8, check, first_may_be_constant=True)
    of_int8 = OperatorKind(name, label, rule, lower, (kernel,), OptionsReader(options, read_fused_activation))
    return also_of(of_int8, integer_operator(name, label), float_arithmetic(name, label))


def _product_int16(name: str, label: str, options: type) -> OperatorKind:
    kernel = Kernel("mul_int16", _PRODUCT_INT16, IN_PLACE)

    def lower(operands: Operands) -> KernelCall:
        made = int16.output_range(operands.output, activation_of(operands))
        return KernelCall(kernel, {**_scaled(operands, _scale_of_product), "range": made})

    rule = Rule((INT16, INT16), 2, (), INT16, check_broadcast, first_may_be_constant=True)
    return OperatorKind(name, label, rule, lower, (kernel,), OptionsReader(options, read_fused_activation))


def _check_quotient(operands: Operands) -> Iterator[Problem]:
    yield from check_broadcast(operands)
    divisor = operands.required(1)
    zero_point = zero_point_of(divisor)
    values = np.array([INT8_MIN, INT8_MAX]) if divisor.data is None else divisor.data.astype(np.int32)
    magnitudes = np.abs(values - zero_point)
    if divisor.data is not None and not magnitudes.all():
        yield Problem("N6-NET-007", f"tensor {shown(divisor)} contains zeros", "remove the zeros from the divisor")
    _, shift = quantize_multiplier(_real_multiplier(operands, _scale_of_quotient))
    least, most = _LEAST_HEADROOM - shift, _MOST_HEADROOM + int(magnitudes.max()).bit_length() - 1 - shift
    if least < 0 or most > _MOST_SHIFT:
        yield Problem(
            "N6-NET-006",
            f"with these scales quotients would be shifted by {least} to {most} bits, outside 0 to {_MOST_SHIFT}",
            f"multiply by the reciprocal, or {QUANTISE}",
        )


OPERATORS = (
    _product("DIV", "Div", tflite.DivOptions, _scale_of_quotient, _check_quotient),
    also_of(integer_operator("FLOOR_DIV", "FloorDiv"), float_arithmetic("FLOOR_DIV", "FloorDiv")),
    integer_operator("FLOOR_MOD", "FloorMod"),
    _product("MUL", "Mul", tflite.MulOptions, _scale_of_product, check_broadcast),
    _product_int16("MUL int16", "Mul", tflite.MulOptions),
)
