"""Selection of elements from two tensors by a condition.

The output is a copy of the second tensor. Elements of the first tensor then replace those where the
condition is true.

Operators:
    SELECT: the first element where a condition is true, else the second. A condition of one
        dimension has one entry for each index of the elements' first dimension.
    SELECT_V2: the first element where a condition is true, else the second. The shapes of the
        tensors broadcast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

import numpy as np

from n6build.compile.reference.broadcasting import broadcast_arguments, broadcast_members, check_broadcast
from n6build.compile.reference.descriptors import Member, kernel_with
from n6build.compile.reference.graph import ELEMENT_BYTES
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.movement import MOVABLE, MOVE, Array, Movement, Pair, known, regrouped
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import BOOL, CONVERT, Problem, Rule, check_same_quantisation, shown

_Made = TypeVar("_Made")
_OTHERWISE = 2

_KERNEL = kernel_with(
    "select",
    *broadcast_members("uint8_t", "void", "void"),
    Member("bytes", "uint32_t", note="of an element"),
    doc="Where a is not 0, the element of b becomes that of the output; the others stay.",
)


def _lower(operands: Operands) -> list[KernelCall]:
    """Return two calls: a copy of the second tensor, then the selection."""
    arguments = broadcast_arguments(operands)
    chosen = KernelCall(_KERNEL, {**arguments, "bytes": ELEMENT_BYTES[operands.output.dtype]})
    return [*Movement(_otherwise).lower(operands), chosen]


def _otherwise(_: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    whole = np.broadcast_shapes(*(known(each).shape for each in inputs))
    yield Pair(regrouped(output, whole), np.broadcast_to(known(inputs[_OTHERWISE]), whole), _OTHERWISE)


def _check(operands: Operands) -> Iterator[Problem]:
    yield from check_broadcast(operands)
    for position in (1, _OTHERWISE):
        tensor = operands.required(position)
        if tensor.dtype != operands.output.dtype:
            what = f"tensor {shown(tensor)} has another type than {shown(operands.output)}"
            yield Problem("N6-NET-004", what, CONVERT)
        yield from check_same_quantisation(tensor, operands.output)


def _by_first_dimension(do: Callable[[Operands], _Made]) -> Callable[[Operands], _Made]:
    def changed(operands: Operands) -> _Made:
        condition, *others = operands.inputs
        rank = len(operands.output.shape)
        if condition is not None and len(condition.shape) == 1:
            condition = replace(condition, shape=(*condition.shape, *(1,) * (rank - 1)))
        return do(replace(operands, inputs=(condition, *others)))

    return changed


_RULE = Rule((BOOL, MOVABLE, MOVABLE), 3, (), MOVABLE, _check, first_may_be_constant=True, quantised=False)
_RULE_BY_FIRST = replace(_RULE, check=_by_first_dimension(_check))
OPERATORS = (
    OperatorKind("SELECT", "Select", _RULE_BY_FIRST, _by_first_dimension(_lower), (MOVE, _KERNEL)),
    OperatorKind("SELECT_V2", "SelectV2", _RULE, _lower, (MOVE, _KERNEL)),
)
