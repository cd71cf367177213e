"""Surround: elements of one value around the input, as a Pad adds them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from n6build.compile.reference.movement import MOVABLE, Array, Movement, Pair, along, filled, known
from n6build.compile.reference.moving_kind import moving
from n6build.compile.reference.operands import Operands


@dataclass(frozen=True)
class SurroundOptions:
    """Options of a Surround.

    Attributes:
        before: Number of elements in front of each dimension.
        value: Value of all these elements in memory.
    """

    before: tuple[int, ...]
    value: int


def _pairs(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    """Yield the borders from the outermost dimension on, then the input."""
    options = operands.operator.options
    assert isinstance(options, SurroundOptions)
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


OPERATOR = moving("Surround", "Pad", Movement(_pairs), (MOVABLE,))
