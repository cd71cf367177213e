"""Operators for the larger or the smaller of two elements, without a scaling."""

from __future__ import annotations

from collections.abc import Iterator

from n6build.compile.reference.broadcasting import BROADCAST_MEMBERS, IN_PLACE, broadcast_arguments, check_broadcast
from n6build.compile.reference.descriptors import Kernel, Structure
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import INT8, Problem, Rule, check_same_quantisation

_EXTREME = Structure("n6k_extreme_t", BROADCAST_MEMBERS, doc="The larger, or the smaller, of two elements.")


def extreme_operator(name: str, label: str) -> OperatorKind:
    """Return an operator whose kernel is n6k_<name>, in lower case."""
    kernel = Kernel(name.lower(), _EXTREME, IN_PLACE)

    def lower(operands: Operands) -> KernelCall:
        return KernelCall(kernel, broadcast_arguments(operands))

    rule = Rule((INT8, INT8), 2, (), INT8, _check, first_may_be_constant=True)
    return OperatorKind(name, label, rule, lower, (kernel,))


def _check(operands: Operands) -> Iterator[Problem]:
    yield from check_broadcast(operands)
    for position in (0, 1):
        yield from check_same_quantisation(operands.required(position), operands.output)
