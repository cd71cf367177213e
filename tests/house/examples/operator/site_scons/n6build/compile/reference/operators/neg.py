"""NEG: integers with the opposite sign; -128 stays -128.

A zero point other than 0 is rejected, because LiteRT's reference resolver ignores it.
"""

from __future__ import annotations

from collections.abc import Iterator

from n6build.compile.reference.descriptors import ENDS, Member, kernel_with
from n6build.compile.reference.kernel_call import KernelCall, element_arguments
from n6build.compile.reference.operands import Operands, zero_point_of
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import INT8, QUANTISE, Problem, Rule, check_elementwise, check_same_quantisation

_KERNEL = kernel_with(
    "neg", *ENDS, Member("elements", "uint32_t"), doc="output = -input, modulo 256.", in_place=("input",)
)


def _check(operands: Operands) -> Iterator[Problem]:
    yield from check_elementwise(operands)
    yield from check_same_quantisation(operands.first, operands.output)
    if zero_point_of(operands.first):
        yield Problem("N6-NET-006", f"its input has the zero point {zero_point_of(operands.first)}, not 0", QUANTISE)


def _lower(operands: Operands) -> KernelCall:
    return KernelCall(_KERNEL, element_arguments(operands))


OPERATORS = (
    OperatorKind(
        name="NEG",
        label="Neg",
        rule=Rule(inputs=(INT8,), required=1, constants=(), output=INT8, check=_check),
        lower=_lower,
        kernels=(_KERNEL,),
    ),
)
