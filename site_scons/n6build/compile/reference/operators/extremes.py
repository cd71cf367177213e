"""The larger or the smaller of two elements, without a scaling.

Of two conditions, whose elements are 0 and 1, it is a logical operator.

Operators:
    MAXIMUM: the larger of two elements, of tensors whose shapes broadcast.
    MINIMUM: the smaller of two elements, of tensors whose shapes broadcast.
    LOGICAL_AND: true where both elements are true. The shapes of the tensors broadcast.
    LOGICAL_OR: true where at least one of two elements is true. The shapes of the tensors
        broadcast.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from n6build.compile.reference.broadcasting import BROADCAST_MEMBERS, IN_PLACE, broadcast_arguments, check_broadcast
from n6build.compile.reference.descriptors import Kernel, Structure
from n6build.compile.reference.float32 import float_arithmetic
from n6build.compile.reference.integers import integer_operator
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind, also_of
from n6build.compile.reference.rules import BOOL, INT8, Problem, Rule, check_same_quantisation

_EXTREME = Structure("n6k_extreme_t", BROADCAST_MEMBERS, doc="The larger, or the smaller, of two elements.")


def _check(operands: Operands) -> Iterator[Problem]:
    yield from check_broadcast(operands)
    for position in (0, 1):
        yield from check_same_quantisation(operands.required(position), operands.output)


def _extreme(name: str, label: str) -> OperatorKind:
    """Return an operator of int8 whose kernel is n6k_<name>, in lower case."""
    kernel = Kernel(name.lower(), _EXTREME, IN_PLACE)

    def lower(operands: Operands) -> KernelCall:
        return KernelCall(kernel, broadcast_arguments(operands))

    rule = Rule((INT8, INT8), 2, (), INT8, _check, first_may_be_constant=True)
    return OperatorKind(name, label, rule, lower, (kernel,))


def _of_numbers(extreme: OperatorKind) -> OperatorKind:
    name, label = extreme.name, extreme.label
    return also_of(extreme, integer_operator(name, label), float_arithmetic(name, label))


def _of_conditions(name: str, label: str, extreme: OperatorKind) -> OperatorKind:
    rule = Rule((BOOL, BOOL), 2, (), BOOL, check_broadcast, first_may_be_constant=True)
    return replace(extreme, name=name, label=label, rule=rule)


_MAXIMUM, _MINIMUM = _extreme("MAXIMUM", "Maximum"), _extreme("MINIMUM", "Minimum")
OPERATORS = (
    _of_numbers(_MAXIMUM),
    _of_numbers(_MINIMUM),
    _of_conditions("LOGICAL_AND", "LogicalAnd", _MINIMUM),
    _of_conditions("LOGICAL_OR", "LogicalOr", _MAXIMUM),
)
