"""Functions of one int8 element, as tables of all 256 results.

A table is computed when the model is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from n6build.compile.reference.descriptors import ENDS, Member, kernel_with, reads
from n6build.compile.reference.fixed_point import INT8_MAX, INT8_MIN, accumulator_multiplier, scale_double
from n6build.compile.reference.kernel_call import Constant, KernelCall, element_arguments
from n6build.compile.reference.operands import Operands, required_quantisation
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.ranges import Activation, clamp_range
from n6build.compile.reference.reference_options import OptionsReader
from n6build.compile.reference.rules import INT8, Problem, Rule, check_elementwise

Float32 = NDArray[np.float32]
# Function that returns an operator's results for the inputs -128 to 127, as int8.
Table = Callable[[Operands], NDArray[np.int8]]

LOOKUP = kernel_with(
    "lookup",
    *ENDS,
    Member("elements", "uint32_t"),
    Member("table", reads("int8_t")),
    doc="output = table[input], a table of 256 elements whose index is the input's bit pattern: those of 0 to 127 come "
    "first, then those of -128 to -1.",
    in_place=("input",),
)


def lookup_operator(
    name: str,
    label: str,
    table: Table,
    options: OptionsReader | None = None,
    check: Callable[[Operands], Iterator[Problem]] | None = None,
) -> OperatorKind:
    """Return an operator of one int8 tensor that is computed by a table.

    Args:
        name: Name of the operator in the schema.
        label: Name of the operator in reports.
        table: Function that returns the results.
        options: Reader of the operator's options, or None.
        check: Check that is particular to the operator, or None.
    """

    def all_checks(operands: Operands) -> Iterator[Problem]:
        yield from check_elementwise(operands)
        yield from check(operands) if check else ()

    def lower(operands: Operands) -> KernelCall:
        return lookup_call(operands, table(operands))

    rule = Rule(inputs=(INT8,), required=1, constants=(), output=INT8, check=all_checks)
    return OperatorKind(name, label, rule, lower, (LOOKUP,), options)


def lookup_call(operands: Operands, results: NDArray[np.int8]) -> KernelCall:
    """Return a call of LOOKUP.

    Args:
        operands: Tensors of the operator.
        results: Results for the inputs -128 to 127.
    """
    return KernelCall(
        LOOKUP,
        {
            **element_arguments(operands),
            "table": Constant("int8", np.roll(results, INT8_MIN)),
        },
    )


def integer_table(operands: Operands, function: Callable[[int], int]) -> NDArray[np.int8]:
    """Return the results of an integer function, saturated.

    Args:
        operands: Tensors of the operator.
        function: Function from an input without its zero point to an output without its own.
    """
    given, target = required_quantisation(operands.first), required_quantisation(operands.output)
    results = [target.zero_point + function(x - given.zero_point) for x in range(INT8_MIN, INT8_MAX + 1)]
    return np.clip(results, INT8_MIN, INT8_MAX).astype(np.int8)


def rescaling(operands: Operands, factor: float = 1.0) -> Callable[[int], int]:
    """Return a function from the input's scale to the output's scale, times `factor`.

    The quotient of the scales is computed in float32.
    """
    given, target = required_quantisation(operands.first), required_quantisation(operands.output)
    real = np.float32(given.scale) * np.float32(factor) / np.float32(target.scale)
    multiplier, shift = accumulator_multiplier(abs(float(real)))
    # A negative factor only changes the sign of the result for its magnitude, so halves are rounded down.
    sign = -1 if real < 0 else 1
    return lambda x: sign * scale_double(x, multiplier, shift)


def clamped(activation: Activation | Literal["RELU_0_TO_1"]) -> Table:
    """Return a function that makes the table of an activation, which clamps elements."""

    def table(operands: Operands) -> NDArray[np.int8]:
        low, high = clamp_range(activation, required_quantisation(operands.output))
        return np.clip(integer_table(operands, rescaling(operands)), low, high)

    return table


def float_table(function: Callable[[Float32], Float32]) -> Table:
    """Return a function that makes the table of a function of real numbers.

    It computes in float32, as the reference resolver does. Halves are rounded away from zero, and
    results are saturated. A NaN gives the lowest element.
    """

    def table(operands: Operands) -> NDArray[np.int8]:
        target = required_quantisation(operands.output)
        with np.errstate(all="ignore"):
            steps = function(real_inputs(operands)) * (np.float32(1) / np.float32(target.scale))
            rounded = np.copysign(np.floor(np.abs(steps.astype(np.float64)) + 0.5), steps).astype(np.float32)
            return saturated(rounded + np.float32(target.zero_point))

    return table


def real_inputs(operands: Operands) -> Float32:
    """Return the real values of the inputs -128 to 127, in float32."""
    given = required_quantisation(operands.first)
    integers = np.arange(INT8_MIN, INT8_MAX + 1) - given.zero_point
    return np.float32(given.scale) * integers.astype(np.float32)


def saturated(values: Float32) -> NDArray[np.int8]:
    """Return values as int8, saturated; a NaN becomes the lowest element."""
    return np.clip(np.nan_to_num(values, nan=INT8_MIN), INT8_MIN, INT8_MAX).astype(np.int8)


def exactly(function: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Callable[[Float32], Float32]:
    """Return the float32 form of a C library function.

    It gives the nearest float32. glibc gives the same results except for some arguments in 10^8.
    The vector unit of the machine that compiles the model does not change them.
    """
    return lambda x: function(x.astype(np.float64)).astype(np.float32)
