"""Elements taken from a tensor by a tensor of indices.

The reference resolver stops at an index that does not exist. If the network computes such an index,
the nearest existing one is used here.

Operators:
    GATHER: elements along one dimension, in the order of a tensor of indices. Batch dimensions have
        indices of their own. The reference resolver stops at an index that does not exist. If the
        network computes such an index, the nearest existing one is used here.
    GATHER_ND: elements or slices at the positions of a tensor of indices. A position has an index
        for each of the first dimensions; a slice holds the further dimensions. The reference
        resolver stops at an index that does not exist. Here the nearest existing one is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import tflite

from n6build.compile.reference.descriptors import Member, kernel_with, of_type, reads, writes
from n6build.compile.reference.gathering import GATHER, gather
from n6build.compile.reference.graph import ELEMENT_BYTES
from n6build.compile.reference.kernel_call import Constant, KernelCall, operand
from n6build.compile.reference.movement import MOVABLE, Array
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.reference_options import OptionsReader
from n6build.compile.reference.rules import CONVERT, INDEX, Problem, Rule, check_indices, check_shape, shown

_INDICES = 1

_TAKE = kernel_with(
    "take",
    *of_type(reads("void"), "input", "indices"),
    Member("output", writes("void")),
    Member("sizes", reads("uint32_t")),
    *of_type("uint32_t", "depth", "batches", "blocks", "block_bytes", "count", "bytes"),
    Member("wide", "uint8_t"),
    doc="input [batches][blocks][sizes...][bytes]; indices [batches][count][depth], int32 or, if `wide`, int64, one for each "
    "of the `depth` sizes; output [batches][blocks][count][bytes]. Indices outside are the nearest one inside.",
)


def _rule(check: Callable[[Operands], Iterator[Problem]]) -> Rule:
    """Return the rule of an operator whose second input indexes the first.

    Either input may be a constant.
    """
    return Rule((MOVABLE, INDEX), 2, (), MOVABLE, check, first_may_be_constant=True, quantised=False)


def _take(operands: Operands, sizes: Sequence[int], *, batches: int = 1, blocks: int = 1) -> KernelCall:
    """Return a call that takes elements of the first input by the second.

    Args:
        operands: Tensors of the operator.
        sizes: Sizes of the dimensions that are indexed.
        batches: Number of batches, each with indices of its own.
        blocks: Number of blocks in a batch, which share the indices.
    """
    source, indices = operands.first, operands.required(_INDICES)
    block = source.bytes // (batches * blocks)
    return KernelCall(
        _TAKE,
        {
            "input": operand(source),
            "indices": operand(indices),
            "output": operands.output,
            "sizes": Constant("int32", np.array(sizes, np.int32)),
            "depth": len(sizes),
            "batches": batches,
            "blocks": blocks,
            "block_bytes": block,
            "count": indices.elements // (batches * len(sizes)),
            "bytes": block // math.prod(sizes),
            "wide": int(ELEMENT_BYTES[indices.dtype] == ELEMENT_BYTES["int64"]),
        },
    )


@dataclass(frozen=True)
class _Options:
    """Options of a GATHER; negative numbers count from the end."""

    axis: int
    batch_dimensions: int


def _read(table: tflite.GatherOptions) -> _Options:
    return _Options(int(table.Axis()), int(table.BatchDims()))


def _axes(operands: Operands) -> tuple[int, int]:
    """Return the indexed dimension and the number of batch dimensions."""
    options = operands.options(_Options)
    axis, batch = options.axis, options.batch_dimensions
    return (
        axis + len(operands.first.shape) if axis < 0 else axis,
        batch + len(operands.required(_INDICES).shape) if batch < 0 else batch,
    )


def _check(operands: Operands) -> Iterator[Problem]:
    source, indices, (axis, batch) = operands.first, operands.required(_INDICES), _axes(operands)
    if not 0 <= axis < len(source.shape):
        yield Problem("N6-NET-007", f"tensor {shown(source)} {list(source.shape)} has no axis {axis}", CONVERT)
        return
    if not 0 <= batch <= axis or source.shape[:batch] != indices.shape[:batch]:
        what = f"tensors {shown(source)} {list(source.shape)} and {shown(indices)} {list(indices.shape)}"
        yield Problem("N6-NET-007", f"{what} do not have {batch} dimensions in common in front of axis {axis}", CONVERT)
        return
    yield from check_indices(indices, (source.shape[axis],))
    yield from check_shape(
        operands.output, (*source.shape[:axis], *indices.shape[batch:], *source.shape[axis + 1 :]), source.dtype
    )


def _lower(operands: Operands) -> KernelCall:
    source, indices, (axis, batch) = operands.first, operands.required(_INDICES), _axes(operands)
    if indices.data is None or batch:
        batches = math.prod(source.shape[:batch])
        return _take(operands, [source.shape[axis]], batches=batches, blocks=math.prod(source.shape[batch:axis]))
    inner = math.prod(source.shape[axis + 1 :]) * ELEMENT_BYTES[source.dtype]
    return gather(source, operands.output, [0], indices.data.reshape(-1).tolist(), row_bytes=0, bytes_each=inner)


def _fold(operands: Operands) -> Array | None:
    data, indices, (axis, batch) = operands.first.data, operands.required(_INDICES).data, _axes(operands)
    if data is None or indices is None or batch or next(_check(operands), None):
        return None
    return np.take(data, indices.astype(np.int64), axis)


def _check_nd(operands: Operands) -> Iterator[Problem]:
    source, indices = operands.first, operands.required(_INDICES)
    depth = indices.shape[-1] if indices.shape else 0
    if not 0 < depth <= len(source.shape):
        what = f"tensor {shown(indices)} {list(indices.shape)} does not index {shown(source)} {list(source.shape)}"
        yield Problem("N6-NET-007", what, CONVERT)
        return
    yield from check_indices(indices, source.shape[:depth])
    yield from check_shape(operands.output, (*indices.shape[:-1], *source.shape[depth:]), source.dtype)


def _lower_nd(operands: Operands) -> KernelCall:
    return _take(operands, operands.first.shape[: operands.required(_INDICES).shape[-1]])


_OPTIONS = OptionsReader(tflite.GatherOptions, _read)
OPERATORS = (
    OperatorKind("GATHER", "Gather", _rule(_check), _lower, (GATHER, _TAKE), _OPTIONS, fold=_fold),
    OperatorKind("GATHER_ND", "GatherNd", _rule(_check_nd), _lower_nd, (_TAKE,)),
)
