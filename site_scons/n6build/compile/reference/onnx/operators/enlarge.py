"""Enlarge: each element repeated.

A Resize to a multiple of its input's sizes becomes this operator.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from n6build.compile.reference.movement import MOVABLE, Array, Movement, Pair, known
from n6build.compile.reference.moving_kind import moving
from n6build.compile.reference.operands import Operands


def _pairs(_: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    source = known(inputs[0])
    factors = [made // given for made, given in zip(output.shape, source.shape, strict=True)]
    for starts in itertools.product(*map(range, factors)):
        index = tuple(slice(start, None, factor) for start, factor in zip(starts, factors, strict=True))
        yield Pair(output[index], source)


OPERATOR = moving("Enlarge", "Resize", Movement(_pairs), (MOVABLE,))
