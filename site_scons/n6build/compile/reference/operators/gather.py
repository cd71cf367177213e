"""GATHER: elements along one dimension, in the order of a tensor of indices.

Batch dimensions have indices of their own. The reference resolver stops at an index that does not
exist. If the network computes such an index, the nearest existing one is used here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import tflite

from n6build.compile.reference.gathering import GATHER, gather
from n6build.compile.reference.graph import ELEMENT_BYTES
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.movement import Array
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.reference_options import OptionsReader
from n6build.compile.reference.rules import CONVERT, Problem, check_indices, check_shape, shown
from n6build.compile.reference.taking import INDICES, TAKE, rule_of_indices, take


@dataclass(frozen=True)
class _Options:
    """Options of a GATHER; negative numbers count from the end."""

    axis: int
    batch_dimensions: int


def _read(table: tflite.GatherOptions) -> _Options:
    return _Options(int(table.Axis()), int(table.BatchDims()))


def _axes(operands: Operands) -> tuple[int, int]:
    """Return the indexed dimension and the number of batch dimensions."""
    options = operands.operator.options
    assert isinstance(options, _Options)
    axis, batch = options.axis, options.batch_dimensions
    return (
        axis + len(operands.first.shape) if axis < 0 else axis,
        batch + len(operands.required(INDICES).shape) if batch < 0 else batch,
    )


def _check(operands: Operands) -> Iterator[Problem]:
    source, indices, (axis, batch) = operands.first, operands.required(INDICES), _axes(operands)
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
    source, indices, (axis, batch) = operands.first, operands.required(INDICES), _axes(operands)
    if indices.data is None or batch:
        batches = math.prod(source.shape[:batch])
        return take(operands, [source.shape[axis]], batches=batches, blocks=math.prod(source.shape[batch:axis]))
    inner = math.prod(source.shape[axis + 1 :]) * ELEMENT_BYTES[source.dtype]
    return gather(source, operands.output, [0], indices.data.reshape(-1).tolist(), row_bytes=0, bytes_each=inner)


def _fold(operands: Operands) -> Array | None:
    data, indices, (axis, batch) = operands.first.data, operands.required(INDICES).data, _axes(operands)
    if data is None or indices is None or batch or next(_check(operands), None):
        return None
    return np.take(data, indices.astype(np.int64), axis)


OPERATOR = OperatorKind(
    name="GATHER",
    label="Gather",
    options=OptionsReader(tflite.GatherOptions, tflite.BuiltinOptions.GatherOptions, _read),
    rule=rule_of_indices(_check),
    lower=_lower,
    kernels=(GATHER, TAKE),
    fold=_fold,
)
