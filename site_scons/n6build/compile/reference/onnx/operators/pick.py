"""Pick: the elements that a Gather with constant indices takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from n6build.compile.reference.movement import MOVABLE, Array, Movement, Pair, along, known
from n6build.compile.reference.moving_kind import moving
from n6build.compile.reference.operands import Operands


@dataclass(frozen=True)
class PickOptions:
    """Options of a Pick.

    Attributes:
        axis: Dimension in memory.
        places: Positions along the axis, from 0 on.
    """

    axis: int
    places: tuple[int, ...]


def _pairs(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    """Yield a pair for each run of places with the same distance."""
    options = operands.operator.options
    assert isinstance(options, PickOptions)
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


OPERATOR = moving("Pick", "Gather", Movement(_pairs), (MOVABLE,))
