"""CONCATENATION: tensors joined along one dimension.

All of them have the scale of the output.
"""

from __future__ import annotations

from collections.abc import Iterator

import tflite

from n6build.compile.reference.joining import joining
from n6build.compile.reference.movement import Array, Movement, Pair, along, axis_in, known
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.ranges import read_activation
from n6build.compile.reference.reference_options import OptionsReader, UnsupportedError


def _read(table: tflite.ConcatenationOptions) -> int:
    activation = read_activation(table.FusedActivationFunction())
    if activation != "NONE":
        raise UnsupportedError(
            f"it has the activation {activation}", "put the activation before it, which LiteRT also requires"
        )
    return int(table.Axis())


def _pairs(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    given = operands.operator.options
    assert isinstance(given, int)
    axis, begin = axis_in(given, output.ndim), 0
    for position, array in enumerate(inputs):
        source = known(array)
        end = begin + source.shape[axis]
        yield Pair(along(output, axis, slice(begin, end)), source, position)
        begin = end


OPERATOR = joining(
    "CONCATENATION",
    "Concatenation",
    Movement(_pairs),
    OptionsReader(tflite.ConcatenationOptions, tflite.BuiltinOptions.ConcatenationOptions, _read),
)
