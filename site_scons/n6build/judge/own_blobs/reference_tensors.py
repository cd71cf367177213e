"""Tensors of the reference interpreter, for calibration and for proofs of blobs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from n6build.base.errors import N6Error
from n6build.compile.reference.graph import Graph, Tensor
from n6build.judge.compare.interpret import interpret_rows, ports_of
from n6build.judge.compare.tensors import ReferenceTensor
from n6build.place.memory_plan.vectors import read_vectors, rows

# More vectors take time and add little.
MOST_VECTORS = 16
# These operators only change the order or the shape of a tensor's elements.
_TRANSPOSE, _RESHAPE = "TRANSPOSE", "RESHAPE"
# This is subtracted from a value of each type.
_LESS = {"int8": 0, "uint8": 128}


@dataclass(frozen=True)
class ReferenceTensors:
    """The tensors of the reference interpreter.

    Attributes:
        values: int8 activations by their index in the graph, as in memory, vectors first; uint8
            activations minus 128.
        by: name of the interpreter.
    """

    count: int
    values: Mapping[int, NDArray[np.int8]]
    by: str

    @cached_property
    def digests(self) -> Mapping[int, str]:
        """SHA-256 of the values, by index."""
        return {
            index: hashlib.sha256(np.ascontiguousarray(each).data).hexdigest() for index, each in self.values.items()
        }


def reference_tensors(model: Path, graph: Graph, vectors: Path) -> ReferenceTensors:
    """Run the reference interpreter on the first vectors of a file.

    Raises:
        N6Error: N6-VEC-001; N6-NPU-017 if a row does not fit the inputs; N6-COMPARE-00x.
    """
    takes, _ = ports_of(model)
    found = read_vectors(vectors)
    sizes = [int(np.prod(port.shape)) * np.dtype(port.type).itemsize for port in takes]
    if found.bytes_each != sum(sizes):
        what = f"a row has {found.bytes_each} bytes, but the model's inputs have {sum(sizes)}"
        raise N6Error(
            "N6-NPU-017", what, where=found.name, hint="write a row for each vector, in the types of the model's inputs"
        )
    runs = []
    for row in rows(found)[:MOST_VECTORS]:
        given: list[NDArray[Any]] = []
        start = 0
        for port, size in zip(takes, sizes, strict=True):
            given.append(np.frombuffer(row[start : start + size], port.type).reshape(port.shape))
            start += size
        runs.append(given)
    made = interpret_rows(model, runs)
    if model.suffix == ".onnx":
        return ReferenceTensors(len(runs), _of_onnx(graph, made), "onnxruntime")
    return ReferenceTensors(len(runs), dict(_of_tflite(graph, made)), "LiteRT")


Made = Sequence[Sequence[ReferenceTensor]]


def _stacked(made: Made, place: int) -> NDArray[np.int8]:
    less = _LESS[made[0][place].type]
    return (np.stack([run[place].values for run in made]).astype(np.int16) - less).astype(np.int8)


def _of_tflite(graph: Graph, made: Made) -> Iterator[tuple[int, NDArray[np.int8]]]:
    places = {tensor.index: place for place, tensor in enumerate(made[0])}
    for tensor in graph.tensors.values():
        place = places.get(tensor.index)
        if place is not None and tensor.data is None and not tensor.unsigned and made[0][place].type in _LESS:
            yield tensor.index, _stacked(made, place)


def _of_onnx(graph: Graph, made: Made) -> Mapping[int, NDArray[np.int8]]:
    """Return the tensors of a graph by onnxruntime's names.

    The names are those of the tensors, or of the real numbers that were quantised to them.
    Transposed and reshaped tensors are computed from their source. Other tensors without a name in
    onnxruntime have no values.
    """
    places = {tensor.real: place for place, tensor in enumerate(made[0]) if tensor.real}
    places |= {tensor.name: place for place, tensor in enumerate(made[0])}
    values: dict[int, NDArray[np.int8]] = {}
    for tensor in graph.tensors.values():
        place = places.get(tensor.name)
        if place is None or not _is_compared(tensor) or tensor.dimensions is None or made[0][place].type != "int8":
            continue
        shape = made[0][place].shape
        # A tensor that onnxruntime has reshaped may have fewer dimensions.
        if len(shape) == len(tensor.dimensions) and tuple(shape[axis] for axis in tensor.dimensions) == tensor.shape:
            values[tensor.index] = _transposed(_stacked(made, place), tensor.dimensions)
    for operator in graph.operators:
        source, tensor = operator.inputs[0], graph.tensors[operator.output]
        if source not in values or not _is_compared(tensor):
            continue
        if operator.kind == _RESHAPE:
            values[tensor.index] = values[source].reshape(-1, *tensor.shape)
        elif operator.kind == _TRANSPOSE and operator.inputs[1] is not None:
            order = graph.tensors[operator.inputs[1]].data
            assert order is not None
            values[tensor.index] = _transposed(values[source], tuple(map(int, order)))
    return values


def _is_compared(tensor: Tensor) -> bool:
    return tensor.data is None and tensor.dtype == "int8" and not tensor.unsigned


def _transposed(values: NDArray[np.int8], order: tuple[int, ...]) -> NDArray[np.int8]:
    """Return transposed values. order: order of the dimensions behind the vectors'."""
    return values.transpose(0, *(axis + 1 for axis in order))
