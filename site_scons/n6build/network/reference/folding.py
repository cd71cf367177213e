"""What does not depend on the network's inputs, computed when it is compiled: shapes, what is made of them, moved constants."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from n6build.network.reference.graph import Graph, Operator, Tensor
from n6build.network.reference.kinds import KINDS
from n6build.network.reference.operands import operands_of


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
    fold = KINDS[operator.kind].fold
    if fold is None:
        return None
    operands = operands_of(graph, operator)
    data = fold(operands)
    if data is None or data.shape != operands.output.shape:
        return None
    return replace(operands.output, data=np.ascontiguousarray(data).astype(operands.output.dtype))
