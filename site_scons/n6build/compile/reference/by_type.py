"""Operators with separate kernels for several types of elements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from n6build.compile.reference.graph import DType
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import CONVERT, Problem, shown


def also_of(kind: OperatorKind, *others: OperatorKind) -> OperatorKind:
    """Return an operator that also supports the element types of other operators.

    All its inputs and its output must have one type.

    Args:
        kind: The operator of int8 or another type, whose name and options the result keeps.
        others: Operators that compute the same for other types.
    """
    by_type = {dtype: each for each in (kind, *others) for dtype in each.rule.output}

    def of(operands: Operands) -> OperatorKind:
        return by_type[operands.output.dtype]

    def check(operands: Operands) -> Iterator[Problem]:
        yield from _check_one_type(operands)
        yield from of(operands).rule.check(operands)

    def lower(operands: Operands) -> KernelCall | Sequence[KernelCall]:
        return of(operands).lower(operands)

    def fold(operands: Operands) -> NDArray[Any] | None:
        found = of(operands).fold
        return found(operands) if found else None

    types: tuple[DType, ...] = tuple(by_type)
    kernels = tuple(dict.fromkeys(kernel for each in (kind, *others) for kernel in each.kernels))
    rule = replace(kind.rule, inputs=(types,) * len(kind.rule.inputs), output=types, check=check)
    return replace(kind, rule=rule, lower=lower, kernels=kernels, fold=fold)


def _check_one_type(operands: Operands) -> Iterator[Problem]:
    for tensor in operands.inputs:
        if tensor is not None and tensor.dtype != operands.output.dtype:
            yield Problem(
                "N6-NET-004", f"tensor {shown(tensor)} has another type than {shown(operands.output)}", CONVERT
            )
