"""What does not depend on the network's inputs, computed when it is compiled: shapes, what is made of them, moved constants."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from n6build.network.reference.graph import Graph, Operator, Tensor
from n6build.network.reference.kinds import KINDS
from n6build.network.reference.operands import Operands, operands_of
from n6build.network.reference.rules import Rule


def folded(graph: Graph) -> Graph:
    """Without the operators whose output is a constant, which takes their place. An output of the network stays what it is."""
    tensors = dict(graph.tensors)
    left: list[Operator] = []
    for operator in graph.operators:
        constant = None if operator.output in graph.outputs else _constant(replace(graph, tensors=tensors), operator)
        if constant is None:
            left.append(operator)
        else:
            tensors[operator.output] = constant
    return replace(graph, tensors=tensors, operators=tuple(left))


def _constant(graph: Graph, operator: Operator) -> Tensor | None:
    kind, operands = KINDS[operator.kind], operands_of(graph, operator)
    if kind.fold is None or not _has_operands(operands, kind.rule):
        return None
    data = kind.fold(operands)
    if data is None or data.shape != operands.output.shape:
        return None
    return replace(operands.output, data=np.ascontiguousarray(data).astype(operands.output.dtype))


def _has_operands(operands: Operands, rule: Rule) -> bool:
    """All that a rule asks for, of the types that it asks for."""
    inputs = [tensor for tensor in operands.inputs if tensor]
    if len(inputs) < len(operands.inputs) or not rule.required <= len(inputs) <= max(rule.most, len(rule.inputs)):
        return False
    types = all(tensor.dtype in rule.types_of(position) for position, tensor in enumerate(inputs))
    return types and operands.output.dtype in rule.output
