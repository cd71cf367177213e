"""Models of uint8, computed with the int8 kernels on values that are 128 smaller.

TensorFlow Lite made such models before int8. A value and its zero point change by the same 128, so
that scale * (value - zero point) stays. In the reference resolver, every operator of `SAME_SHIFTED`
has the same bits for uint8 as for int8, except for those 128. The inputs and outputs of the network
stay uint8: a QUANTIZE behind each input and in front of each output converts them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from n6build.compile.reference.graph import Graph, Operator, Quantisation, Refusal, Tensor
from n6build.compile.reference.kinds import KINDS
from n6build.compile.reference.weights import WEIGHTS

_HALF = 128
# Operators that only move values have the same bits anyway.
_MOVE = """
    ASSIGN_VARIABLE BATCH_TO_SPACE_ND BROADCAST_TO CONCATENATION DEPTH_TO_SPACE EXPAND_DIMS GATHER GATHER_ND MIRROR_PAD PACK
    PAD PADV2 READ_VARIABLE RESHAPE RESIZE_NEAREST_NEIGHBOR REVERSE_V2 SELECT SELECT_V2 SLICE SPACE_TO_BATCH_ND
    SPACE_TO_DEPTH SPLIT SPLIT_V SQUEEZE STRIDED_SLICE TILE TRANSPOSE UNPACK"""
# Operators that have the same bits in the reference interpreter (tests/network/test_uint8_shift.py). Convolutions, average
# pooling and bilinear resizing have kernels of their own for that. SUM and L2_NORMALIZATION have other bits.
_COMPUTE = """
    ADD ARG_MAX ARG_MIN AVERAGE_POOL_2D CONV_2D DEPTHWISE_CONV_2D DEQUANTIZE EQUAL FULLY_CONNECTED GREATER GREATER_EQUAL
    HARD_SWISH LEAKY_RELU LESS LESS_EQUAL LOG_SOFTMAX LOGISTIC MAX_POOL_2D MAXIMUM MEAN MINIMUM MUL NOT_EQUAL PRELU QUANTIZE
    REDUCE_MAX REDUCE_MIN RELU RELU6 RELU_N1_TO_1 RESIZE_BILINEAR SOFTMAX SUB TANH"""
SAME_SHIFTED = frozenset((_MOVE + _COMPUTE).split())
_UNSIGNED = ("AVERAGE_POOL_2D", "RESIZE_BILINEAR")
_WITH_WEIGHTS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")
_INT8 = "convert the model to int8: this operator rounds differently for uint8"


def as_signed(graph: Graph) -> Graph:
    """Return a graph in which uint8 tensors are int8.

    The graph itself is returned if every operator takes the uint8 tensors that it has.
    """
    if not any(_needs_int8(graph, operator) for operator in graph.operators):
        return graph
    refused = tuple(
        Refusal(operator.index, operator.kind, "N6-NET-004", f"{operator} is not supported with uint8", _INT8, "uint8")
        for operator in graph.operators
        if operator.kind not in SAME_SHIFTED and any(tensor.dtype == "uint8" for tensor in _tensors(graph, operator))
    )
    rest = tuple(each for each in graph.operators if each.index not in {refusal.operator for refusal in refused})
    return _converted(replace(graph, operators=rest, refused=(*graph.refused, *refused)))


def _tensors(graph: Graph, operator: Operator) -> list[Tensor]:
    return [graph.tensors[index] for index in (*operator.inputs, operator.output) if index is not None]


def _needs_int8(graph: Graph, operator: Operator) -> bool:
    """Return whether an operator does not take its uint8 tensors.

    This includes a concatenation whose inputs have to be brought to one scale. The reference
    resolver has no such concatenation of int8.
    """
    rule = KINDS[operator.kind].rule
    types = [rule.types_of(position) for position, index in enumerate(operator.inputs) if index is not None]
    tensors = _tensors(graph, operator)
    if operator.kind == "CONCATENATION" and any(_to_rescale(part, tensors[-1]) for part in tensors[:-1]):
        return True
    return any(
        tensor.dtype == "uint8" and "uint8" not in allowed
        for tensor, allowed in zip(tensors, [*types, rule.output], strict=True)
    )


def _converted(graph: Graph) -> Graph:
    tensors = {index: _signed(tensor) for index, tensor in graph.tensors.items()}
    ports = [index for index in (*graph.inputs, *graph.outputs) if graph.tensors[index].dtype == "uint8"]
    # An input or output keeps its index outside. Its int8 form inside the graph has another index.
    inside = dict(zip(dict.fromkeys(ports), itertools.count(max(graph.tensors) + 1)))
    for outer, inner in inside.items():
        tensors[inner] = replace(tensors[outer], index=inner)
        tensors[outer] = graph.tensors[outer]
    numbers = itertools.count(1 + max((operator.index for operator in graph.operators), default=0))

    def quantize(source: int, target: int) -> Operator:
        return Operator(next(numbers), "QUANTIZE", (source,), target, added=True)

    def rescaled(source: int, target: int) -> Operator:
        made = max(tensors) + 1
        tensors[made] = replace(tensors[source], index=made, quantisation=tensors[target].quantisation)
        return Operator(next(numbers), "QUANTIZE unsigned", (source,), made, added=True)

    def operators() -> Iterator[Operator]:
        for index in graph.inputs:
            if index in inside:
                yield quantize(index, inside[index])
        for operator in graph.operators:
            inputs = tuple(None if index is None else inside.get(index, index) for index in operator.inputs)
            kind, output = _kind(operator, tensors), inside.get(operator.output, operator.output)
            if kind == "CONCATENATION":
                parts = [index for index in inputs if index is not None]
                made = {part: rescaled(part, output) for part in parts if _to_rescale(tensors[part], tensors[output])}
                yield from made.values()
                inputs = tuple(made[part].output if part in made else part for part in parts)
            yield replace(operator, kind=kind, inputs=inputs, output=output)
        for index in graph.outputs:
            if index in inside:
                yield quantize(inside[index], index)

    return replace(graph, tensors=tensors, operators=tuple(operators()))


def _to_rescale(part: Tensor, whole: Tensor) -> bool:
    """Return whether an input of a concatenation has to be rescaled.

    It has another scale or zero point than the output.
    """
    unsigned = part.data is None and (part.unsigned or part.dtype == "uint8")
    return unsigned and None not in (part.quantisation, whole.quantisation) and part.quantisation != whole.quantisation


def _kind(operator: Operator, tensors: dict[int, Tensor]) -> str:
    """Return the kind whose kernel can do things that int8 does not have.

    They are weights with a zero point, and halves that are rounded up.
    """
    if operator.kind in _UNSIGNED and (tensors[operator.output].unsigned or tensors[operator.output].dtype == "uint8"):
        return f"{operator.kind} unsigned"
    weights = operator.inputs[WEIGHTS] if operator.kind in _WITH_WEIGHTS and len(operator.inputs) > WEIGHTS else None
    given = None if weights is None else tensors[weights].quantisation
    return f"{operator.kind} asymmetric" if given and any(given.zero_points) else operator.kind


def _signed(tensor: Tensor) -> Tensor:
    if tensor.dtype != "uint8":
        return tensor
    given = tensor.quantisation
    shifted = given and Quantisation(given.scales, tuple(zero - _HALF for zero in given.zero_points), given.axis)
    data = None if tensor.data is None else (tensor.data.astype(np.int16) - _HALF).astype(np.int8)
    return replace(tensor, dtype="int8", quantisation=shifted, data=data, unsigned=True)
