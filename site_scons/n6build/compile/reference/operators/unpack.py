"""UNPACK: one dimension taken apart, each index an output without it.

Contiguous outputs cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import tflite

from n6build.compile.reference.movement import MOVABLE, Array, Movement, Pair, along, axis_in, known
from n6build.compile.reference.moving_kind import moving
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.reference_options import OptionsReader


def _pairs(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    source, axis = known(inputs[0]), operands.operator.options
    assert isinstance(axis, int)
    yield Pair(output, along(source, axis_in(axis, source.ndim), operands.operator.part))


OPERATOR = moving(
    "UNPACK",
    "Unpack",
    Movement(_pairs),
    (MOVABLE,),
    options=OptionsReader(tflite.UnpackOptions, tflite.BuiltinOptions.UnpackOptions, lambda table: int(table.Axis())),
    several_outputs=True,
)
