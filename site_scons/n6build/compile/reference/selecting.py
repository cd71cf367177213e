"""Selection of elements from two tensors by a condition.

The output is a copy of the second tensor. Elements of the first tensor then replace those where the
condition is true.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from n6build.compile.reference.broadcasting import broadcast_arguments, broadcast_members, check_broadcast
from n6build.compile.reference.descriptors import Kernel, Member, Structure
from n6build.compile.reference.graph import ELEMENT_BYTES
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.movement import MOVABLE, MOVE, Array, Movement, Pair, known, regrouped
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import BOOL, CONVERT, Problem, Rule, check_same_quantisation, shown

_OTHERWISE = 2

_KERNEL = Kernel(
    "select",
    Structure(
        "n6k_select_t",
        (*broadcast_members("uint8_t", "void", "void"), Member("bytes", "uint32_t", note="of an element")),
        doc="Where a is not 0, the element of b becomes that of the output; the others stay.",
    ),
)


def selection(name: str, label: str) -> OperatorKind:
    """Return an operator that selects elements by a condition.

    The shapes of the condition and of both tensors broadcast.
    """
    rule = Rule((BOOL, MOVABLE, MOVABLE), 3, (), MOVABLE, _check, first_may_be_constant=True, quantised=False)
    return OperatorKind(name, label, rule, _lower, (MOVE, _KERNEL))


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
