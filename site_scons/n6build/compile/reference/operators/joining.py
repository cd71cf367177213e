"""Tensors joined into one.

Each input has a call of its own, with its place in the output. Any input may be a constant.

Operators:
    CONCATENATION: tensors joined along one dimension. All of them have the scale of the output.
    PACK: tensors of one shape, joined along a new dimension.
"""

from __future__ import annotations

from collections.abc import Iterator

import tflite

from n6build.compile.reference.movement import MOVABLE, MOVE, Array, Movement, Pair, Pairs, along, axis_in, known
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.ranges import read_activation
from n6build.compile.reference.reference_options import OptionsReader, UnsupportedError
from n6build.compile.reference.rules import Problem, Rule, check_same_quantisation

# Limit on the inputs, above that of any file that the reader takes.
_MOST = 1 << 20


def _joining(name: str, label: str, pairs: Pairs, options: OptionsReader) -> OperatorKind:
    """Return an operator that moves all its inputs into one output."""
    movement = Movement(pairs)

    def check(operands: Operands) -> Iterator[Problem]:
        yield from movement.check(operands)
        for position in range(len(operands.inputs)):
            yield from check_same_quantisation(operands.required(position), operands.output)

    return OperatorKind(
        name=name,
        label=label,
        rule=Rule((MOVABLE,), 1, (), MOVABLE, check, first_may_be_constant=True, most=_MOST, quantised=False),
        lower=movement.lower,
        kernels=(MOVE,),
        options=options,
        view=movement.view,
        parts=movement.parts,
        fold=movement.fold,
    )


def _concatenated(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    axis, begin = axis_in(operands.options(int), output.ndim), 0
    for position, array in enumerate(inputs):
        source = known(array)
        end = begin + source.shape[axis]
        yield Pair(along(output, axis, slice(begin, end)), source, position)
        begin = end


def _packed(operands: Operands, inputs: tuple[Array | None, ...], output: Array) -> Iterator[Pair]:
    axis = axis_in(operands.options(int), output.ndim)
    for position, array in enumerate(inputs):
        yield Pair(along(output, axis, position), known(array), position)


def _read_concatenation(table: tflite.ConcatenationOptions) -> int:
    activation = read_activation(table.FusedActivationFunction())
    if activation != "NONE":
        raise UnsupportedError(
            f"it has the activation {activation}", "put the activation before it, which LiteRT also requires"
        )
    return int(table.Axis())


def _read_pack(table: tflite.PackOptions) -> int:
    return int(table.Axis())


OPERATORS = (
    _joining(
        "CONCATENATION", "Concatenation", _concatenated, OptionsReader(tflite.ConcatenationOptions, _read_concatenation)
    ),
    _joining("PACK", "Pack", _packed, OptionsReader(tflite.PackOptions, _read_pack)),
)
