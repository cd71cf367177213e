"""The four outputs of a detector's last operator, as parts of one tensor.

A kernel makes all of them at once, in float32.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from n6build.compile.reference.graph import Graph, Operator, Tensor
from n6build.compile.reference.operators.detections import KIND, NUMBERS_EACH, DetectionOptions

# Numbers of a detection in each output, the last of which is the number of detections.
_SIZES = (4, 1, 1)


def detections_together(graph: Graph) -> Graph:
    """Return the graph with one operator for the outputs of each detector."""
    found = [operator for operator in graph.operators if operator.kind == KIND]
    if not found:
        return graph
    tensors = dict(graph.tensors)
    numbers = itertools.count(1 + max(operator.index for operator in graph.operators))
    operators: list[Operator] = []
    made: dict[int, Tensor] = {}
    for operator in graph.operators:
        if operator.kind != KIND:
            operators.append(operator)
            continue
        if operator.index not in made:
            made[operator.index] = _whole(tensors, operator)
            operators += _computed(tensors, operator, made[operator.index], numbers)
        operators += _part(tensors, operator, made[operator.index], numbers)
    return replace(graph, tensors=tensors, operators=tuple(operators))


def _added(tensors: dict[int, Tensor], name: str, shape: tuple[int, ...]) -> Tensor:
    tensor = Tensor(max(tensors) + 1, name, "float32", shape, None)
    tensors[tensor.index] = tensor
    return tensor


def _whole(tensors: dict[int, Tensor], operator: Operator) -> Tensor:
    assert isinstance(operator.options, DetectionOptions)
    name = f"{tensors[operator.output].name} and others"
    return _added(tensors, name, (operator.options.places * NUMBERS_EACH + 1,))


def _computed(
    tensors: dict[int, Tensor], operator: Operator, whole: Tensor, numbers: Iterator[int]
) -> Iterator[Operator]:
    """Yield the operator, behind those that make float32 of its inputs."""
    inputs = []
    for index in operator.inputs:
        given = None if index is None else tensors[index]
        if given is None or given.dtype == "float32" or given.quantisation is None:
            inputs.append(index)
            continue
        real = _added(tensors, f"{given.name} as float32", given.shape)
        inputs.append(real.index)
        if given.data is None:
            yield Operator(next(numbers), "DEQUANTIZE", (given.index,), real.index, added=True)
        else:
            numbers_of = np.float32(given.quantisation.scale) * (
                given.data.astype(np.float32) - np.float32(given.quantisation.zero_point)
            )
            tensors[real.index] = replace(real, data=numbers_of.astype(np.float32))
    yield replace(operator, inputs=tuple(inputs), output=whole.index, part=0)


def _part(tensors: dict[int, Tensor], operator: Operator, whole: Tensor, numbers: Iterator[int]) -> Iterator[Operator]:
    """Yield the operators that take an output from the whole."""
    places = whole.elements // NUMBERS_EACH
    begin = places * sum(_SIZES[: operator.part])
    end = begin + places * _SIZES[operator.part] if operator.part < len(_SIZES) else whole.elements
    output = tensors[operator.output]
    flat = _added(tensors, f"{output.name} flat", (end - begin,))
    yield Operator(next(numbers), "Part", (whole.index,), flat.index, (slice(begin, end),), added=True)
    yield Operator(next(numbers), "RESHAPE", (flat.index,), output.index, added=True)
