"""Operators that only move elements, each by a function that yields its pairs.

Operators:
    BROADCAST_TO: the input, repeated along dimensions of size 1.
    EXPAND_DIMS: the input with a new dimension of size 1; this costs nothing.
    REVERSE_V2: elements in reverse order along any dimensions.
    SLICE: one part of each dimension; a contiguous part costs nothing.
    SPLIT: equal parts along one dimension, each an output. Contiguous parts cost nothing.
    SPLIT_V: parts of given sizes along one dimension, each an output. Contiguous parts cost
        nothing.
    SQUEEZE: the input without dimensions of size 1; this costs nothing.
    STRIDED_SLICE: one part of each dimension, or every n-th element of it. A contiguous part costs
        nothing.
    TILE: the input repeated along each dimension.
    TRANSPOSE: dimensions in another order; moving one of size 1 costs nothing.
    UNPACK: one dimension taken apart, each index an output without it. Contiguous outputs cost
        nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import EllipsisType

import numpy as np
import tflite

from n6build.compile.reference.movement import (
    MOVABLE,
    Array,
    Pair,
    along,
    axis_in,
    integers,
    known,
    moving,
    regroup,
    regrouped,
)
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.reference_options import OptionsReader, UnsupportedError
from n6build.compile.reference.rules import INDEX, INT32


def _broadcast_to(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    yield Pair(output, np.broadcast_to(known(inputs[0]), integers(operands, 1)))


def _reverse(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    source = known(inputs[0])
    axes = {axis_in(axis, source.ndim) for axis in integers(operands, 1)}
    yield Pair(output, np.flip(source, tuple(axes)))


def _slice(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    begins, sizes = integers(operands, 1), integers(operands, 2)
    if min(begins) < 0 or len(begins) != len(operands.first.shape):
        raise ValueError
    # A size of -1 stands for the rest of the dimension.
    ends = [None if size == -1 else begin + size for begin, size in zip(begins, sizes, strict=True)]
    yield Pair(output, known(inputs[0])[tuple(map(slice, begins, ends))])


def _split(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    (given,), source = integers(operands, 0), known(inputs[1])
    axis = axis_in(given, source.ndim)
    begin = operands.operator.part * output.shape[axis]
    yield Pair(output, along(source, axis, slice(begin, begin + output.shape[axis])), 1)


def _split_by_sizes(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    source, sizes, (given,) = known(inputs[0]), integers(operands, 1), integers(operands, 2)
    axis, part = axis_in(given, source.ndim), operands.operator.part
    # One size may be -1: it stands for the rest of the dimension.
    rest = source.shape[axis] - sum(size for size in sizes if size != -1)
    parts = [rest if size == -1 else size for size in sizes]
    if min(parts) < 0 or sum(parts) != source.shape[axis]:
        raise ValueError(f"parts of {sizes}")
    yield Pair(output, along(source, axis, slice(sum(parts[:part]), sum(parts[: part + 1]))))


def _tile(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    source, times = known(inputs[0]), integers(operands, 1)
    both = [each for pair in zip(times, source.shape, strict=True) for each in pair]
    apart = regrouped(source, [each for size in source.shape for each in (1, size)])
    yield Pair(regrouped(output, both), np.broadcast_to(apart, both))


def _transpose(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    yield Pair(output, known(inputs[0]).transpose(integers(operands, 1)))


def _unpack(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    source = known(inputs[0])
    yield Pair(output, along(source, axis_in(operands.options(int), source.ndim), operands.operator.part))


def _read_axis(table: tflite.UnpackOptions) -> int:
    return int(table.Axis())


@dataclass(frozen=True)
class _SliceOptions:
    """Masks of a STRIDED_SLICE; bit n belongs to entry n of the slice."""

    begin: int
    end: int
    ellipsis: int
    new_axis: int
    shrink_axis: int


def _read_slices(table: tflite.StridedSliceOptions) -> _SliceOptions:
    if table.Offset():
        raise UnsupportedError("its ends are counted from its beginnings", "slice with the ends themselves")
    masks = (table.BeginMask(), table.EndMask(), table.EllipsisMask(), table.NewAxisMask(), table.ShrinkAxisMask())
    return _SliceOptions(*masks)


def _strided_slice(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    entries = zip(*(integers(operands, position) for position in (1, 2, 3)), strict=True)
    index = tuple(_index(operands, entry, *numbers) for entry, numbers in enumerate(entries))
    # An index with an ellipsis returns an array even for a single element.
    part = known(inputs[0])[index if ... in index else (*index, ...)]
    yield Pair(regrouped(output, part.shape), part)


def _index(operands: Operands, entry: int, begin: int, end: int, step: int) -> int | slice | EllipsisType | None:
    options, bit = operands.options(_SliceOptions), 1 << entry
    if options.ellipsis & bit:
        return ...
    if options.new_axis & bit:
        return None
    if options.shrink_axis & bit:
        return 0 if options.begin & bit else begin
    return slice(None if options.begin & bit else begin, None if options.end & bit else end, step)


_SLICES = OptionsReader(tflite.StridedSliceOptions, _read_slices)
_AXIS = OptionsReader(tflite.UnpackOptions, _read_axis)
OPERATORS = (
    moving("BROADCAST_TO", "BroadcastTo", _broadcast_to, (MOVABLE, INDEX), constants=(1,)),
    moving("EXPAND_DIMS", "ExpandDims", regroup, (MOVABLE, INDEX), constants=(1,)),
    moving("REVERSE_V2", "Reverse", _reverse, (MOVABLE, INT32), constants=(1,)),
    moving("SLICE", "Slice", _slice, (MOVABLE, INDEX, INDEX), constants=(1, 2)),
    moving("SPLIT", "Split", _split, (INT32, MOVABLE), constants=(0,), source=1, several_outputs=True),
    moving("SPLIT_V", "SplitV", _split_by_sizes, (MOVABLE, INDEX, INT32), constants=(1, 2), several_outputs=True),
    moving("SQUEEZE", "Squeeze", regroup, (MOVABLE,)),
    moving(
        "STRIDED_SLICE", "StridedSlice", _strided_slice, (MOVABLE, *[INDEX] * 3), constants=(1, 2, 3), options=_SLICES
    ),
    moving("TILE", "Tile", _tile, (MOVABLE, INDEX), constants=(1,)),
    moving("TRANSPOSE", "Transpose", _transpose, (MOVABLE, INT32), constants=(1,)),
    moving("UNPACK", "Unpack", _unpack, (MOVABLE,), options=_AXIS, several_outputs=True),
)
