"""Surround: what a Pad adds around its input: elements of one value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from n6build.network.reference.movement import MOVABLE, Array, Movement, Pair, along, filled, known
from n6build.network.reference.moving_kind import moving
from n6build.network.reference.operands import Operands


@dataclass(frozen=True)
class SurroundOptions:
    """before: elements added in front of each dimension. value: of them all, as it is in memory."""

    before: tuple[int, ...]
    value: int


def _pairs(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    """From the outermost dimension on, what lies before and behind; then what is left, the input."""
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
