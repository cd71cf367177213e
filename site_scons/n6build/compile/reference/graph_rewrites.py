"""Rewrites of a graph: constants are folded, dilated convolutions joined.

Dilated convolutions that old converters write as three operators. They put a convolution between
SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND. The three become a PAD and a dilated convolution.

Computation of all that does not depend on the network's inputs. It takes place when the network is
compiled. It covers shapes, values made from shapes, and moved constants.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from n6build.compile.reference.graph import Graph, Operator, Tensor
from n6build.compile.reference.graph_checks import problem_of
from n6build.compile.reference.kinds import KINDS
from n6build.compile.reference.operands import Operands, operands_of
from n6build.compile.reference.paddings import paddings_of
from n6build.compile.reference.rules import Rule
from n6build.compile.reference.windows import WindowOptions

_CONVOLUTIONS = ("CONV_2D", "DEPTHWISE_CONV_2D")


@dataclass(frozen=True)
class _Triple:
    """Three operators that are one dilated convolution.

    Attributes:
        apart: The SPACE_TO_BATCH_ND.
        convolution: The convolution between the others.
        together: The BATCH_TO_SPACE_ND.
        paddings: Paddings of height and width, less the elements that are cropped in the end.
        options: Options of the dilated convolution.
    """

    apart: Operator
    convolution: Operator
    together: Operator
    paddings: tuple[tuple[int, int], ...]
    options: WindowOptions


def dilated(graph: Graph) -> Graph:
    """Return the graph with a PAD and a dilated convolution for each such triple.

    The sums of products stay the same.
    """
    users: dict[int, list[Operator]] = {}
    for operator in graph.operators:
        for index in operator.inputs:
            if index is not None:
                users.setdefault(index, []).append(operator)
    triples = [triple for operator in graph.operators if (triple := _triple(graph, users, operator))]
    tensors = dict(graph.tensors)
    instead: dict[int, list[Operator]] = {}
    for triple in triples:
        padding, convolution = _padded(tensors, triple)
        instead |= {triple.apart.index: padding, triple.convolution.index: [], triple.together.index: [convolution]}
    operators = (each for operator in graph.operators for each in instead.get(operator.index, [operator]))
    return replace(graph, tensors=tensors, operators=tuple(operators))


def _triple(graph: Graph, users: dict[int, list[Operator]], apart: Operator) -> _Triple | None:
    convolution = _only_user(graph, users, apart)
    together = convolution and _only_user(graph, users, convolution)
    if not convolution or not together or convolution.kind not in _CONVOLUTIONS:
        return None
    if (apart.kind, together.kind) != ("SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND"):
        return None
    if problem_of(graph, apart) or problem_of(graph, together):
        return None
    before, after = operands_of(graph, apart), operands_of(graph, together)
    blocks, other_blocks, options = before.required(1).data, after.required(1).data, convolution.options
    assert blocks is not None and other_blocks is not None and isinstance(options, WindowOptions)
    plain = (options.padding, options.stride_h, options.stride_w, options.dilation_h, options.dilation_w)
    same = np.array_equal(blocks, other_blocks) and after.first.quantisation == after.output.quantisation
    if not same or blocks.shape != (2,) or plain != ("VALID", 1, 1, 1, 1) or before.first.shape[0] != 1:
        return None
    paddings = [
        (first - cropped_first, last - cropped_last)
        for (first, last), (cropped_first, cropped_last) in zip(
            paddings_of(before, 2), paddings_of(after, 2), strict=True
        )
    ]
    if min(min(both) for both in paddings) < 0:
        return None
    height, width = map(int, blocks.tolist())
    return _Triple(apart, convolution, together, tuple(paddings), replace(options, dilation_h=height, dilation_w=width))


def _only_user(graph: Graph, users: dict[int, list[Operator]], operator: Operator) -> Operator | None:
    found = users.get(operator.output, [])
    alone = len(found) == 1 and found[0].inputs[0] == operator.output and found[0].inputs.count(operator.output) == 1
    return found[0] if alone and operator.output not in graph.outputs else None


def _padded(tensors: dict[int, Tensor], triple: _Triple) -> tuple[list[Operator], Operator]:
    """Return the PAD and the convolution, and add their new tensors to `tensors`."""
    given, batches = triple.apart.inputs[0], tensors[triple.apart.output]
    assert given is not None
    whole = ((0, 0), *triple.paddings, (0, 0))
    numbers = Tensor(max(tensors) + 1, f"{batches.name}/paddings", "int32", (4, 2), None, np.array(whole, np.int32))
    shape = tuple(size + sum(both) for size, both in zip(tensors[given].shape, whole, strict=True))
    padded = Tensor(numbers.index + 1, f"{batches.name}/padded", batches.dtype, shape, batches.quantisation)
    tensors |= {numbers.index: numbers, padded.index: padded}
    convolution = replace(
        triple.convolution,
        index=triple.together.index,
        inputs=(padded.index, *triple.convolution.inputs[1:]),
        output=triple.together.output,
        options=triple.options,
    )
    return [Operator(triple.apart.index, "PAD", (given, numbers.index), padded.index)], convolution


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
