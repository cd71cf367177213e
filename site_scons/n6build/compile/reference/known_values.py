"""The kind of an operator whose output is known when the network is compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from n6build.compile.reference.graph import DType
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.movement import Array
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import Problem, Rule, shown


def known_value(
    name: str,
    label: str,
    value: Callable[[Operands], Array | None],
    inputs: tuple[tuple[DType, ...], ...],
    output: tuple[DType, ...],
) -> OperatorKind:
    """Return an operator whose output is known when the network is compiled.

    Args:
        name: Name of the operator in the schema.
        label: Name of the operator in reports.
        value: Function that returns the output, or None if it depends on the network's inputs after
            all; such an operator is refused.
        inputs: Allowed types by position.
        output: Allowed types of the output.
    """
    return OperatorKind(
        name=name,
        label=label,
        rule=Rule(
            inputs=inputs,
            required=len(inputs),
            constants=(),
            output=output,
            check=_check,
            first_may_be_constant=True,
            quantised=False,
        ),
        lower=_lower,
        kernels=(),
        fold=value,
    )


def _check(operands: Operands) -> Iterator[Problem]:
    yield Problem(
        "N6-NET-007",
        f"tensor {shown(operands.output)} is not constant inside the network: it is an output, or depends on the "
        f"inputs",
        "convert the model with fixed shapes, and without constant outputs",
    )


def _lower(_: Operands) -> KernelCall:
    raise AssertionError("it is folded, or refused")
