"""Operators whose output is known when the network is compiled.

Operators:
    FILL: one constant in every element. The shape is known when the network is compiled.
    RANK: the number of dimensions, known when the network is compiled.
    SHAPE: the sizes of a tensor, known when the network is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from n6build.compile.reference.graph import DType
from n6build.compile.reference.kernel_call import KernelCall
from n6build.compile.reference.movement import MAX_FOLDED, MOVABLE, Array
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.rules import INDEX, INT32, Problem, Rule, shown

# Function that returns the output, or None if it depends on the network's inputs after all; such an operator is refused.
_Value = Callable[[Operands], Array | None]


def _known_value(
    name: str, label: str, value: _Value, inputs: tuple[tuple[DType, ...], ...], output: tuple[DType, ...]
) -> OperatorKind:
    rule = Rule(inputs, len(inputs), (), output, _check, first_may_be_constant=True, quantised=False)
    return OperatorKind(name, label, rule, _lower, (), fold=value)


def _check(operands: Operands) -> Iterator[Problem]:
    yield Problem(
        "N6-NET-007",
        f"tensor {shown(operands.output)} is not constant inside the network: it is an output, or depends on the inputs",
        "convert the model with fixed shapes, and without constant outputs",
    )


def _lower(_: Operands) -> KernelCall:
    raise AssertionError("it is folded, or refused")


def _filled(operands: Operands) -> Array | None:
    shape, value = operands.first.data, operands.required(1)
    if shape is None or value.data is None or value.elements != 1 or value.dtype != operands.output.dtype:
        return None
    if operands.output.bytes > MAX_FOLDED or tuple(shape.reshape(-1).tolist()) != operands.output.shape:
        return None
    return np.full(operands.output.shape, value.data.reshape(-1)[0])


def _rank(operands: Operands) -> Array:
    return np.array(len(operands.first.shape), np.int32)


def _shape(operands: Operands) -> Array:
    return np.array(operands.first.shape, operands.output.dtype)


OPERATORS = (
    _known_value("FILL", "Fill", _filled, (INDEX, MOVABLE), MOVABLE),
    _known_value("RANK", "Rank", _rank, (MOVABLE,), INT32),
    _known_value("SHAPE", "Shape", _shape, (MOVABLE,), INDEX),
)
