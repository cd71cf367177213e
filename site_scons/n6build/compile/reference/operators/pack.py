"""PACK: tensors of one shape, joined along a new dimension."""

from __future__ import annotations

from collections.abc import Iterator

import tflite

from n6build.compile.reference.joining import joining
from n6build.compile.reference.movement import Array, Movement, Pair, along, axis_in, known
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.reference_options import OptionsReader


def _pairs(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    given = operands.operator.options
    assert isinstance(given, int)
    axis = axis_in(given, output.ndim)
    for position, array in enumerate(inputs):
        yield Pair(along(output, axis, position), known(array), position)


OPERATOR = joining(
    "PACK",
    "Pack",
    Movement(_pairs),
    OptionsReader(tflite.PackOptions, tflite.BuiltinOptions.PackOptions, lambda table: int(table.Axis())),
)
