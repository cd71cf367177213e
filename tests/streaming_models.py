"""Writer of .tflite models that keep variables, as streaming models of sounds do."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from numpy.typing import NDArray
from one_op_models import Quantisation, Tensor, code_of, model_of, operator_of, packed, tensor_of

SCALE = Quantisation(0.1, -5)
FRAME, KEPT, CHANNELS = 2, 3, 4


@dataclass
class Streaming:
    """A model of two subgraphs: inferences, and first values."""

    tree: Any
    codes: dict[str, int]

    @property
    def main(self) -> Any:
        return self.tree.subgraphs[0]

    @property
    def first(self) -> Any:
        return self.tree.subgraphs[1]

    def tensor(self, graph: Any, tensor: Tensor) -> int:
        graph.tensors.append(tensor_of(self.tree, tensor))
        return len(graph.tensors) - 1

    def add(
        self, graph: Any, kind: str, inputs: Sequence[int], outputs: Sequence[int], table: str = "", **options: Any
    ) -> None:
        if kind not in self.codes:
            self.codes[kind] = len(self.tree.operatorCodes)
            self.tree.operatorCodes.append(code_of(kind, 1 if kind != "CONCATENATION" else 2))
        graph.operators.append(operator_of(self.codes[kind], inputs, outputs, table, **options))

    def handle(self, graph: Any, name: str) -> int:
        index = self.tensor(graph, Tensor(f"{name} handle", (), np.int8))
        graph.tensors[index].type = schema.TensorType.RESOURCE
        self.add(graph, "VAR_HANDLE", [], [index], "VarHandle", container="", sharedName=name)
        return index

    def read(self, name: str, like: Tensor) -> int:
        handle = self.handle(self.main, name)
        index = self.tensor(self.main, like)
        self.add(self.main, "READ_VARIABLE", [handle], [index], "ReadVariable")
        return index

    def assign(self, graph: Any, name: str, value: int) -> None:
        self.add(graph, "ASSIGN_VARIABLE", [self.handle(graph, name), value], [], "AssignVariable")

    def joined(self, parts: Sequence[int], rows: int) -> int:
        index = self.tensor(self.main, activation("joined", rows))
        self.add(self.main, "CONCATENATION", parts, [index], "Concatenation", axis=1, fusedActivationFunction="NONE")
        return index

    def rows(self, source: int, first: int, end: int) -> int:
        """Return some rows of a tensor."""
        shape = [[0, first, 0, 0], [1, end, 1, CHANNELS], [1, 1, 1, 1]]
        bounds = [
            self.tensor(self.main, Tensor(f"bound {number}", (4,), np.int32, None, np.array(each, np.int32)))
            for number, each in enumerate(shape)
        ]
        index = self.tensor(self.main, activation("rows", end - first))
        self.add(self.main, "STRIDED_SLICE", [source, *bounds], [index], "StridedSlice")
        return index

    def starts_with(self, name: str, values: NDArray[np.int8]) -> None:
        tensor = replace(activation(f"first {name}", values.shape[1]), data=values)
        self.assign(self.first, name, self.tensor(self.first, tensor))

    def ends_with(self, output: int) -> bytes:
        self.main.outputs = [output]
        return packed(self.tree)


def activation(name: str, rows: int) -> Tensor:
    return Tensor(name, (1, rows, 1, CHANNELS), np.int8, SCALE)


def zeros(rows: int = KEPT) -> NDArray[np.int8]:
    return np.full((1, rows, 1, CHANNELS), SCALE.zero_point, np.int8)


def begun() -> tuple[Streaming, int]:
    """Return a model that begins, and its input."""
    tree = model_of([activation("input", FRAME)])
    first = schema.SubGraphT()
    first.name, first.tensors, first.operators, first.inputs, first.outputs = "first", [], [], [], []
    tree.subgraphs.append(first)
    model = Streaming(tree, {})
    model.main.inputs = [0]
    model.add(model.main, "CALL_ONCE", [], [], "CallOnce", initSubgraphIndex=1)
    return model, 0


def ring(values: NDArray[np.int8] | None = None) -> bytes:
    """Return a model that shows the rows of the inferences before and its own."""
    model, given = begun()
    model.starts_with("ring", zeros() if values is None else values)
    joined = model.joined([model.read("ring", activation("kept", KEPT)), given], KEPT + FRAME)
    model.assign(model.main, "ring", model.rows(joined, FRAME, FRAME + KEPT))
    return model.ends_with(joined)


def late() -> bytes:
    """Return a model that uses a value after the variable has another one."""
    model, given = begun()
    model.starts_with("last", zeros(FRAME))
    old = model.read("last", activation("old", FRAME))
    model.assign(model.main, "last", given)
    new = model.read("last", activation("new", FRAME))
    return model.ends_with(model.joined([old, new, given], 3 * FRAME))


def two() -> bytes:
    """Return a model whose second variable follows the first one an inference later."""
    model, given = begun()
    for name in ("near", "far"):
        model.starts_with(name, zeros(FRAME))
    near, far = (model.read(name, activation(name, FRAME)) for name in ("near", "far"))
    model.assign(model.main, "far", near)
    model.assign(model.main, "near", given)
    return model.ends_with(model.joined([far, near, given], 3 * FRAME))
