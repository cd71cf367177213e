"""GATHER_ND: elements or slices at the positions of a tensor of indices.

A position has an index for each of the first dimensions; a slice holds the further dimensions. The
reference resolver stops at an index that does not exist. Here the nearest existing one is used.
"""

from __future__ import annotations

from collections.abc import Iterator

from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import CONVERT, Problem, check_indices, check_shape, shown
from n6build.compile.reference.taking import INDICES, TAKE, rule_of_indices, take


def _check(operands: Operands) -> Iterator[Problem]:
    source, indices = operands.first, operands.required(INDICES)
    depth = indices.shape[-1] if indices.shape else 0
    if not 0 < depth <= len(source.shape):
        what = f"tensor {shown(indices)} {list(indices.shape)} does not index {shown(source)} {list(source.shape)}"
        yield Problem("N6-NET-007", what, CONVERT)
        return
    yield from check_indices(indices, source.shape[:depth])
    yield from check_shape(operands.output, (*indices.shape[:-1], *source.shape[depth:]), source.dtype)


def _lower(operands: Operands) -> KernelCall:
    return take(operands, operands.first.shape[: operands.required(INDICES).shape[-1]])


OPERATOR = OperatorKind(
    name="GATHER_ND",
    label="GatherNd",
    rule=rule_of_indices(_check),
    lower=_lower,
    kernels=(TAKE,),
)
