"""Computation of all that does not depend on the network's inputs.

It takes place when the network is compiled. It covers shapes, values made from shapes, and moved
constants.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from n6build.compile.reference.graph import Graph, Operator, Tensor
from n6build.compile.reference.kinds import KINDS
from n6build.compile.reference.operands import Operands, operands_of
from n6build.compile.reference.rules import Rule

# Arithmetic with which converters compute shapes.
_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "ADD": np.add,
    "SUB": np.subtract,
    "MUL": np.multiply,
    "MAXIMUM": np.maximum,
    "MINIMUM": np.minimum,
}
_MOST_SIZES = 64


def folded(graph: Graph) -> Graph:
    """Return the graph without constant and unused operators.

    A constant takes the place of an operator whose output does not depend on inputs. An output of
    the network stays unchanged.
    """
    tensors = dict(graph.tensors)
    left: list[Operator] = []
    for each in graph.operators:
        operator = _without_computed_shape(each, tensors)
        constant = None if operator.output in graph.outputs else _constant(replace(graph, tensors=tensors), operator)
        if constant is None:
            left.append(operator)
        else:
            tensors[operator.output] = constant
    # If operators are refused, the users of the others are unknown. All are kept, so that all their errors are reported.
    return replace(graph, tensors=tensors, operators=tuple(left) if graph.refused else _used(left, graph))


def _without_computed_shape(operator: Operator, tensors: dict[int, Tensor]) -> Operator:
    """Return a RESHAPE without the input that computes its shape.

    It needs nothing but its output's shape, which is fixed however the model computes it.
    """
    shape = operator.inputs[1] if operator.kind == "RESHAPE" and len(operator.inputs) == 2 else None
    computed = shape is not None and tensors[shape].data is None
    return replace(operator, inputs=operator.inputs[:1]) if computed else operator


def _used(operators: list[Operator], graph: Graph) -> tuple[Operator, ...]:
    """Return the operators on which an output of the network or a state depends.

    The others, such as unused parts of a SPLIT, would be computed in vain.
    """
    needed, left = set(graph.outputs), []
    for operator in reversed(operators):
        if operator.output in needed or graph.tensors[operator.output].is_state:
            needed |= {index for index in operator.inputs if index is not None}
            left.append(operator)
    return tuple(reversed(left))


def _constant(graph: Graph, operator: Operator) -> Tensor | None:
    kind, operands = KINDS[operator.kind], operands_of(graph, operator)
    if operator.kind in _ARITHMETIC:
        return _computed(operands)
    if kind.fold is None or not _has_operands(operands, kind.rule):
        return None
    data = kind.fold(operands)
    if data is None or data.shape != operands.output.shape:
        return None
    return replace(operands.output, data=np.array(data, operands.output.dtype, order="C"))


def _computed(operands: Operands) -> Tensor | None:
    """Return the constant result of arithmetic on sizes and indices, or None.

    Operands are 32 or 64 bits wide. Results wrap around as in the reference resolver.
    """
    operator, output = operands.operator, operands.output
    data = [tensor.data for tensor in operands.inputs if tensor is not None and tensor.data is not None]
    whole = all(array.dtype in (np.int32, np.int64) for array in data) and output.dtype in ("int32", "int64")
    if len(data) != 2 or len(operands.inputs) != 2 or not whole or max(array.size for array in data) > _MOST_SIZES:
        return None
    activation = getattr(operator.options, "activation", "NONE")
    try:
        result = np.asarray(_ARITHMETIC[operator.kind](data[0], data[1]))
    except ValueError:  # shapes that do not broadcast
        return None
    return replace(output, data=result) if activation == "NONE" and result.shape == output.shape else None


def _has_operands(operands: Operands, rule: Rule) -> bool:
    """Return whether the operands have the number and the types that a rule requires."""
    inputs = [tensor for tensor in operands.inputs if tensor]
    if len(inputs) < len(operands.inputs) or not rule.required <= len(inputs) <= max(rule.most, len(rule.inputs)):
        return False
    types = all(tensor.dtype in rule.types_of(position) for position, tensor in enumerate(inputs))
    return types and operands.output.dtype in rule.output
