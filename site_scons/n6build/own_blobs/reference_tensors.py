"""What LiteRT makes of vectors, tensor by tensor: for calibration, and for what blobs are compared with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from n6build.base.errors import N6Error
from n6build.compare.interpret import interpret_rows, ports_of
from n6build.memory_plan.vectors import read_vectors, rows
from n6build.network.reference.graph import Graph

# More of them take time and tell little.
MOST_VECTORS = 16


@dataclass(frozen=True)
class ReferenceTensors:
    """values: of the int8 activations by their index in the model, vectors first."""

    count: int
    values: Mapping[int, NDArray[np.int8]]


def reference_tensors(model: Path, graph: Graph, vectors: Path) -> ReferenceTensors:
    """The first vectors of a file. Raises N6-VEC-001, N6-NPU-017, N6-COMPARE-00x."""
    takes, _ = ports_of(model)
    found = read_vectors(vectors)
    sizes = [int(np.prod(port.shape)) * np.dtype(port.type).itemsize for port in takes]
    if found.bytes_each != sum(sizes):
        what = f"a row has {found.bytes_each} bytes, the model's inputs have {sum(sizes)}"
        raise N6Error("N6-NPU-017", what, where=found.name, hint="a row for each vector, in the model's own types")
    runs = []
    for row in rows(found)[:MOST_VECTORS]:
        given: list[NDArray[Any]] = []
        start = 0
        for port, size in zip(takes, sizes, strict=True):
            given.append(np.frombuffer(row[start : start + size], port.type).reshape(port.shape))
            start += size
        runs.append(given)
    made = interpret_rows(model, runs)
    places = {tensor.index: place for place, tensor in enumerate(made[0])}
    values = {}
    for tensor in graph.tensors.values():
        place = places.get(tensor.index)
        if place is not None and tensor.data is None and not tensor.unsigned and made[0][place].type == "int8":
            values[tensor.index] = np.stack([run[place].values for run in made]).astype(np.int8)
    return ReferenceTensors(len(runs), values)
