"""Sums and differences of two tensors in the reference resolver's arithmetic.

Both operands are brought to one scale first.

Operators:
    ADD: the sum of two tensors whose shapes broadcast.
    ADD int16: the sum of two int16 tensors whose shapes broadcast.
    SQUARED_DIFFERENCE: (a - b)^2 of two tensors whose shapes broadcast.
    SUB: the difference of two tensors whose shapes broadcast.
    SUB int16: the difference of two int16 tensors whose shapes broadcast.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import tflite

from n6build.compile.reference import int16
from n6build.compile.reference.broadcasting import (
    BROADCAST_MEMBERS,
    IN_PLACE,
    broadcast_arguments,
    broadcast_members,
    check_broadcast,
)
from n6build.compile.reference.descriptors import Kernel, Member, Structure, kernel_with, of_type
from n6build.compile.reference.fixed_point import ScaleError, quantize_multiplier
from n6build.compile.reference.float32 import float_arithmetic
from n6build.compile.reference.integers import integer_operator
from n6build.compile.reference.kernel_call import Argument, KernelCall
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind, also_of
from n6build.compile.reference.ranges import (
    RANGE,
    Activation,
    activation_of,
    output_range,
    read_activation,
    read_fused_activation,
)
from n6build.compile.reference.reference_options import OptionsReader
from n6build.compile.reference.rules import INT8, INT16, Problem, Rule

# Left shifts of the reference resolver.
_LEFT_SHIFT, _LEFT_SHIFT_OF_SQUARES, _LEFT_SHIFT_INT16 = 20, 7, 15
# Members of a descriptor, in this order.
_SCALING_MEMBERS = (
    Member("left_shift", "int32_t"),
    *(Member(f"{which}_{what}", "int32_t") for which in ("a", "b", "out") for what in ("multiplier", "shift")),
)
_SUM = Structure(
    "n6k_sum_t",
    (*BROADCAST_MEMBERS, *_SCALING_MEMBERS, *of_type("int8_t", "a_zero_point", "b_zero_point"), Member("range", RANGE)),
    doc="Each input: ((x - zero_point) << left_shift) scaled by its multiplier; the sum, the difference or its square scaled to "
    "the output. Shifts here are <= 0 as TensorFlow Lite computes them.",
)


def _scaling_arguments(operands: Operands, left_shift: int, power: int = 1) -> dict[str, Argument]:
    """Return the arguments for the operands that broadcast and for _SCALING_MEMBERS.

    Args:
        operands: Tensors of the operator.
        left_shift: Left shift of the reference resolver for this type.
        power: Power to which the sum is raised.

    Raises:
        ScaleError: The sum would be scaled by 1 or more.
    """
    tensors = (operands.first, operands.required(1), operands.output)
    scale_a, scale_b, scale_output = (required_quantisation(each).scale for each in tensors)
    twice = 2 * max(scale_a, scale_b)
    real_output = (twice / (1 << left_shift)) ** power / scale_output
    if real_output >= 1:
        raise ScaleError(f"its sum would be scaled by {real_output:g}, it has to be less than 1")
    arguments: dict[str, Argument] = {**broadcast_arguments(operands), "left_shift": left_shift}
    for which, real in (("a", scale_a / twice), ("b", scale_b / twice), ("out", real_output)):
        arguments[f"{which}_multiplier"], arguments[f"{which}_shift"] = quantize_multiplier(real)
    return arguments


def _sum(
    name: str, label: str, options: type | None = None, left_shift: int = _LEFT_SHIFT, power: int = 1
) -> OperatorKind:
    """Return an operator of int8 whose kernel is n6k_<name>, in lower case.

    Args:
        name: Name of the operator in the schema.
        label: Name of the operator in reports.
        options: Table with the fused activation, or None.
        left_shift: As for `_scaling_arguments`.
        power: As for `_scaling_arguments`.
    """
    kernel = Kernel(name.lower(), _SUM, IN_PLACE)

    def lower(operands: Operands) -> KernelCall:
        arguments: dict[str, Argument] = {
            **_scaling_arguments(operands, left_shift, power),
            "a_zero_point": required_quantisation(operands.first).zero_point,
            "b_zero_point": required_quantisation(operands.required(1)).zero_point,
            "range": output_range(operands.output, activation_of(operands)),
        }
        return KernelCall(kernel, arguments)

    rule = Rule((INT8, INT8), 2, (), INT8, check_broadcast, first_may_be_constant=True)
    reader = OptionsReader(options, read_fused_activation) if options else None
    return OperatorKind(name, label, rule, lower, (kernel,), reader)


# int16

_SUM_INT16 = kernel_with(
    "sum_int16",
    *broadcast_members("int16_t"),
    *_SCALING_MEMBERS,
    Member("b_sign", "int32_t", note="1 or -1"),
    Member("range", int16.RANGE),
    doc="a + b or a - b, scaled as n6k_sum_t.",
    in_place=IN_PLACE,
)


@dataclass(frozen=True)
class _Int16Options:
    """Options of ADD and SUB.

    Attributes:
        activation: The fused activation.
        powers_of_two: True if scales that are powers of two may be computed by shifts, with other
            bits.
    """

    activation: Activation
    powers_of_two: bool


def _read_int16(table: tflite.AddOptions | tflite.SubOptions) -> _Int16Options:
    return _Int16Options(read_activation(table.FusedActivationFunction()), bool(table.PotScaleInt16()))


def _check_int16(operands: Operands) -> Iterator[Problem]:
    yield from check_broadcast(operands)
    scales = [required_quantisation(each).scale for each in (operands.first, operands.required(1), operands.output)]
    if operands.options(_Int16Options).powers_of_two and all(math.frexp(scale)[0] == 0.5 for scale in scales):
        yield Problem(
            "N6-NET-008",
            "scales that are powers of two by shifts are not supported",
            "convert with pot_scale_int16 = false",
        )


def _sum_int16(name: str, label: str, options: type, sign: int) -> OperatorKind:
    """Return an operator of int16.

    Args:
        name: Name of the operator's kind.
        label: Name of the operator in reports.
        options: Class of the operator's table of options in the schema.
        sign: 1 for a sum, -1 for a difference.
    """

    def lower(operands: Operands) -> KernelCall:
        made = int16.output_range(operands.output, operands.options(_Int16Options).activation)
        scaling = _scaling_arguments(operands, _LEFT_SHIFT_INT16)
        return KernelCall(_SUM_INT16, {**scaling, "b_sign": sign, "range": made})

    rule = Rule((INT16, INT16), 2, (), INT16, _check_int16, first_may_be_constant=True)
    return OperatorKind(name, label, rule, lower, (_SUM_INT16,), OptionsReader(options, _read_int16))


OPERATORS = (
    also_of(_sum("ADD", "Add", tflite.AddOptions), integer_operator("ADD", "Add"), float_arithmetic("ADD", "Add")),
    _sum_int16("ADD int16", "Add", tflite.AddOptions, 1),
    also_of(_sum("SUB", "Sub", tflite.SubOptions), integer_operator("SUB", "Sub"), float_arithmetic("SUB", "Sub")),
    _sum_int16("SUB int16", "Sub", tflite.SubOptions, -1),
    also_of(
        _sum("SQUARED_DIFFERENCE", "SquaredDifference", left_shift=_LEFT_SHIFT_OF_SQUARES, power=2),
        float_arithmetic("SQUARED_DIFFERENCE", "SquaredDifference"),
    ),
)
