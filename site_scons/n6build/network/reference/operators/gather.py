"""GATHER: those indices of one dimension that a constant names, in its order."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import tflite

from n6build.network.reference.gathering import GATHER, gather
from n6build.network.reference.graph import ELEMENT_BYTES
from n6build.network.reference.kernel_call import KernelCall
from n6build.network.reference.movement import MOVABLE, Array
from n6build.network.reference.operands import Operands
from n6build.network.reference.operator_kind import OperatorKind
from n6build.network.reference.options import OptionsReader, UnsupportedError
from n6build.network.reference.rules import CONVERT, INT32, INT64, Problem, Rule, shown


def _read(table: tflite.GatherOptions) -> int:
    if table.BatchDims():
        raise UnsupportedError(f"it has {table.BatchDims()} batch dimensions", "gather along one dimension")
    return int(table.Axis())


def _axis(operands: Operands) -> int:
    axis = operands.operator.options
    assert isinstance(axis, int)
    return axis + len(operands.first.shape) if axis < 0 else axis


def _check(operands: Operands) -> Iterator[Problem]:
    source, indices, axis = operands.first, operands.required(1), _axis(operands)
    if not 0 <= axis < len(source.shape):
        yield Problem("N6-NET-007", f"tensor {shown(source)} {list(source.shape)} has no axis {axis}", CONVERT)
        return
    assert indices.data is not None
    size, given = source.shape[axis], indices.data.reshape(-1).tolist()
    if not 0 <= min(given) <= max(given) < size:
        yield Problem(
            "N6-NET-007", f"tensor {shown(indices)} names indices from {min(given)} to {max(given)} of {size}", CONVERT
        )
    expected = (*source.shape[:axis], *indices.shape, *source.shape[axis + 1 :])
    if operands.output.shape != expected or operands.output.dtype != source.dtype:
        yield Problem(
            "N6-NET-007", f"tensor {shown(operands.output)} is not {source.dtype} of the shape {[*expected]}", CONVERT
        )


def _lower(operands: Operands) -> KernelCall:
    source, indices, axis = operands.first, operands.required(1), _axis(operands)
    assert indices.data is not None
    inner = math.prod(source.shape[axis + 1 :]) * ELEMENT_BYTES[source.dtype]
    return gather(source, operands.output, [0], indices.data.reshape(-1).tolist(), row_bytes=0, bytes_each=inner)


def _fold(operands: Operands) -> Array | None:
    data, indices = operands.first.data, operands.required(1).data
    if data is None or indices is None or next(_check(operands), None):
        return None
    return np.take(data, indices.astype(np.int64), _axis(operands))


OPERATOR = OperatorKind(
    name="GATHER",
    label="Gather",
    options=OptionsReader(tflite.GatherOptions, tflite.BuiltinOptions.GatherOptions, _read),
    rule=Rule(
        inputs=(MOVABLE, (*INT32, *INT64)), required=2, constants=(1,), output=MOVABLE, check=_check, quantised=False
    ),
    lower=_lower,
    kernels=(GATHER,),
    fold=_fold,
)
