"""Operators that only move elements.

Expand repeats the input along dimensions of size 1. A Resize to a multiple of its input's sizes
becomes Enlarge, which repeats each element. A Slice, or one output of a Split, becomes Part, whose
options are a slice for each dimension. A Gather with constant indices becomes Pick. A Pad becomes
Surround.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from n6build.compile.reference.movement import MOVABLE, Array, Pair, along, filled, known, moving
from n6build.compile.reference.operands import Operands


def _enlarged(_: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    source = known(inputs[0])
    factors = [made // given for made, given in zip(output.shape, source.shape, strict=True)]
    for starts in itertools.product(*map(range, factors)):
        index = tuple(slice(start, None, factor) for start, factor in zip(starts, factors, strict=True))
        yield Pair(output[index], source)


def _expanded(_: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    yield Pair(output, np.broadcast_to(known(inputs[0]), output.shape))


def _part(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    slices = operands.options(tuple)
    yield Pair(output, known(inputs[0])[slices])


@dataclass(frozen=True)
class PickOptions:
    """Options of a Pick.

    Attributes:
        axis: Dimension in memory.
        places: Positions along the axis, from 0 on.
    """

    axis: int
    places: tuple[int, ...]


def _picked(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    """Yield a pair for each run of places with the same distance."""
    options = operands.options(PickOptions)
    source, places = known(inputs[0]), options.places
    begin = 0
    while begin < len(places):
        step = places[begin + 1] - places[begin] if begin + 1 < len(places) else 1
        end = begin + 1
        while step > 0 and end < len(places) and places[end] - places[end - 1] == step:
            end += 1
        taken = slice(places[begin], places[end - 1] + 1, max(step, 1))
        yield Pair(along(output, options.axis, slice(begin, end)), along(source, options.axis, taken))
        begin = end


@dataclass(frozen=True)
class SurroundOptions:
    """Options of a Surround.

    Attributes:
        before: Number of elements in front of each dimension.
        value: Value of all these elements in memory.
    """

    before: tuple[int, ...]
    value: float


def _surrounded(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    """Yield the borders from the outermost dimension on, then the input."""
    options = operands.options(SurroundOptions)
    source = known(inputs[0])
    target = output
    for axis, before in enumerate(options.before):
        behind = before + source.shape[axis]
        for outside in (slice(0, before), slice(behind, None)):
            part = along(target, axis, outside)
            if part.size:
                yield filled(part, options.value)
        target = along(target, axis, slice(before, behind))
    yield Pair(target, source)


OPERATORS = (
    moving("Enlarge", "Resize", _enlarged, (MOVABLE,)),
    moving("Expand", "Expand", _expanded, (MOVABLE,)),
    moving("Part", "Part", _part, (MOVABLE,)),
    moving("Pick", "Gather", _picked, (MOVABLE,)),
    moving("Surround", "Pad", _surrounded, (MOVABLE,)),
)
