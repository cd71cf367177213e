"""STRIDED_SLICE: one part of each dimension, or every n-th element of it.

A contiguous part costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import EllipsisType

import tflite

from n6build.compile.reference.movement import MOVABLE, Array, Movement, Pair, integers, known, regrouped
from n6build.compile.reference.moving_kind import moving
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.reference_options import OptionsReader, UnsupportedError
from n6build.compile.reference.rules import INT32, INT64


@dataclass(frozen=True)
class _Options:
    """Masks of a STRIDED_SLICE; bit n belongs to entry n of the slice."""

    begin: int
    end: int
    ellipsis: int
    new_axis: int
    shrink_axis: int


def _read(table: tflite.StridedSliceOptions) -> _Options:
    if table.Offset():
        raise UnsupportedError("its ends are counted from its beginnings", "slice with the ends themselves")
    masks = (table.BeginMask(), table.EndMask(), table.EllipsisMask(), table.NewAxisMask(), table.ShrinkAxisMask())
    return _Options(*masks)


def _pairs(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    entries = zip(*(integers(operands, position) for position in (1, 2, 3)), strict=True)
    index = tuple(_index(operands, entry, *numbers) for entry, numbers in enumerate(entries))
    # An index with an ellipsis returns an array even for a single element.
    part = known(inputs[0])[index if ... in index else (*index, ...)]
    yield Pair(regrouped(output, part.shape), part)


def _index(operands: Operands, entry: int, begin: int, end: int, step: int) -> int | slice | EllipsisType | None:
    options, bit = operands.operator.options, 1 << entry
    assert isinstance(options, _Options)
    if options.ellipsis & bit:
        return ...
    if options.new_axis & bit:
        return None
    if options.shrink_axis & bit:
        return 0 if options.begin & bit else begin
    return slice(None if options.begin & bit else begin, None if options.end & bit else end, step)


_INDICES = (*INT32, *INT64)
OPERATOR = moving(
    "STRIDED_SLICE",
    "StridedSlice",
    Movement(_pairs),
    (MOVABLE, _INDICES, _INDICES, _INDICES),
    constants=(1, 2, 3),
    options=OptionsReader(tflite.StridedSliceOptions, tflite.BuiltinOptions.StridedSliceOptions, _read),
)
