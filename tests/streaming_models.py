"""Writer of .tflite models that keep variables, as streaming models of sounds do."""

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from graph_models import Graph, Value
from numpy.typing import NDArray

SCALE = (0.1, -5)
FRAME, KEPT, CHANNELS = 2, 3, 4


class Streaming(Graph):
    """A model of two subgraphs: inferences, and first values."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.first = Graph(codes=self.codes)
        self.first.tree = self.tree
        graph = schema.SubGraphT()
        graph.name, graph.inputs, graph.outputs = "first", [], []
        graph.tensors, graph.operators = self.first.tensors, self.first.operators
        self.tree.subgraphs.append(graph)
        self.given = self.input((1, FRAME, 1, CHANNELS), *SCALE)
        self.add_all("CALL_ONCE", [], [], SCALE, version=1, table="CallOnce", initSubgraphIndex=1)

    def read(self, name: str, rows: int = FRAME) -> Value:
        shape = (1, rows, 1, CHANNELS)
        return self.add("READ_VARIABLE", [_handle(self, name)], shape, SCALE, version=1, table="ReadVariable")

    def starts_with(self, name: str, values: NDArray[np.int8]) -> None:
        assign(self.first, name, self.first.constant(values, *SCALE))


def _handle(graph: Graph, name: str) -> Value:
    made = graph.add("VAR_HANDLE", [], (), (0.0, 0), version=1, table="VarHandle", container="", sharedName=name)
    graph.tensors[made.index].type = schema.TensorType.RESOURCE
    return made


def assign(graph: Graph, name: str, value: Value) -> None:
    graph.add_all("ASSIGN_VARIABLE", [_handle(graph, name), value], [], SCALE, version=1, table="AssignVariable")


def zeros(rows: int = KEPT) -> NDArray[np.int8]:
    return np.full((1, rows, 1, CHANNELS), SCALE[1], np.int8)


def ring(values: NDArray[np.int8] | None = None) -> bytes:
    """Return a model that shows the rows of the inferences before and its own."""
    model = Streaming()
    model.starts_with("ring", zeros() if values is None else values)
    joined = model.concat(model.read("ring", KEPT), model.given, axis=1)
    assign(model, "ring", model.slice(joined, (0, FRAME, 0, 0), (1, FRAME + KEPT, 1, CHANNELS)))
    return model.bytes(joined)


def late() -> bytes:
    """Return a model that uses a value after the variable has another one."""
    model = Streaming()
    model.starts_with("last", zeros(FRAME))
    old = model.read("last")
    assign(model, "last", model.given)
    new = model.read("last")
    return model.bytes(model.concat(old, new, model.given, axis=1))


def two() -> bytes:
    """Return a model whose second variable follows the first one an inference later."""
    model = Streaming()
    for name in ("near", "far"):
        model.starts_with(name, zeros(FRAME))
    near, far = (model.read(name) for name in ("near", "far"))
    assign(model, "far", near)
    assign(model, "near", model.given)
    return model.bytes(model.concat(far, near, model.given, axis=1))
