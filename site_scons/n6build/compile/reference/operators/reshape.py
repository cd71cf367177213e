"""Copies of bytes.

Operators:
    RESHAPE: another view of the same bytes. They are copied only where input and output cannot share
        their memory.
    READ_VARIABLE: a copy of a variable's value, which may be used after the variable has another one.
    ASSIGN_VARIABLE: a copy of a value into a variable.
"""

from __future__ import annotations

from collections.abc import Iterator

from n6build.compile.reference.descriptors import Member, kernel_with, reads, writes
from n6build.compile.reference.kernel_call import KernelCall, ends
from n6build.compile.reference.movement import MOVABLE, Movement, regroup
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import CONVERT, INT32, Problem, Rule, check_same_quantisation, shown

_KERNEL = kernel_with(
    "copy",
    Member("input", reads("void")),
    Member("output", writes("void")),
    Member("bytes", "uint32_t"),
    doc="bytes moved from one buffer to another: a RESHAPE whose input must outlive it, or that is itself a network's "
    "output; a variable that is read or assigned.",
)


def _check(operands: Operands) -> Iterator[Problem]:
    first, output = operands.first, operands.output
    if first.elements != output.elements or first.dtype != output.dtype:
        yield Problem(
            "N6-NET-007",
            f"tensor {shown(first)} {list(first.shape)} does not become {shown(output)} {list(output.shape)}",
            CONVERT,
        )
    yield from check_same_quantisation(first, output)


def _lower(operands: Operands) -> KernelCall:
    return KernelCall(_KERNEL, {**ends(operands), "bytes": operands.first.bytes})


def _variable(name: str, label: str, states: tuple[int, ...]) -> OperatorKind:
    rule = Rule(
        inputs=(MOVABLE,), required=1, constants=(), output=MOVABLE, check=_check, quantised=False, states=states
    )
    return OperatorKind(name=name, label=label, rule=rule, lower=_lower, kernels=(_KERNEL,))


OPERATORS = (
    OperatorKind(
        name="RESHAPE",
        label="Reshape",
        rule=Rule(inputs=(MOVABLE, INT32), required=1, constants=(1,), output=MOVABLE, check=_check, quantised=False),
        lower=_lower,
        kernels=(_KERNEL,),
        view=lambda _: 0,
        fold=Movement(regroup).fold,
    ),
    # The reader gives them the variable's state instead of its handle.
    _variable("READ_VARIABLE", "ReadVariable", (0,)),
    _variable("ASSIGN_VARIABLE", "AssignVariable", ()),
)
