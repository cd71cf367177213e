"""Nodes that are refused while an ONNX graph is read: all of them in one error, and what stands in for what they would make."""

from __future__ import annotations

import contextlib
from typing import Any

import onnx

from n6build.base.errors import N6Error
from n6build.network.reference.graph import Refusal
from n6build.network.reference.onnx.building import Building
from n6build.network.reference.onnx.storage import Shape, as_in_the_model
from n6build.network.reference.onnx.values import Held, Pending, Target, Value
from n6build.network.reference.refusals import error_of_all

_DAMAGED = "N6-NET-002"


class Refused:
    """Grows while nodes are read. Where the shape of what a refused node makes is known, real numbers of that shape stand in for
    it, so that the nodes behind it are looked at, too."""

    def __init__(self, model: onnx.ModelProto, building: Building, file: str) -> None:
        self._model = model
        self._building = building
        self._file = file
        self._refusals: list[Refusal] = []
        self._shapes: dict[str, Shape] | None = None
        self._doubtful: set[str] = set()

    def add(self, place: int, kind: str, error: N6Error) -> None:
        """place: of the node. Raises `error` where the file is damaged: what follows it would be guesses."""
        if error.id == _DAMAGED:
            raise error
        self._refusals.append(Refusal(place, kind, error.id, error.what, error.hint or ""))

    def is_doubtful(self, name: str) -> bool:
        """Whether real numbers depend on what a refused node would have made: what is wrong with those who read them is not
        said."""
        return name in self._doubtful

    def doubt(self, names: list[str]) -> None:
        """They depend on what a refused node would have made."""
        self._doubtful.update(name for name in names if name)

    def stand_in(self, name: str) -> Value | None:
        """None where the shape is not known."""
        if self._shapes is None:
            self._shapes = _known_shapes(self._model)
        shape = self._shapes.get(name)
        if shape is None:
            return None
        order = as_in_the_model(len(shape))

        def make(target: Target) -> Held:
            tensor = self._building.tensor(target.name, "int8", shape, target.quantisation)
            return Held(tensor, shape, order, unsigned=target.unsigned)

        return Pending(shape, make)

    def raise_all(self, nodes: int) -> None:
        """One error, where there is any refusal. nodes: how many the graph has."""
        if self._refusals:
            raise error_of_all(self._refusals, f"{nodes} nodes", self._file)


def _known_shapes(model: onnx.ModelProto) -> dict[str, Shape]:
    """By the name of a value; of those that are fixed. A batch that is left open is 1."""
    with contextlib.suppress(onnx.shape_inference.InferenceError, ValueError, RuntimeError):
        model = onnx.shape_inference.infer_shapes(model)
    found = {value.name: _shape(value.type.tensor_type) for value in (*model.graph.value_info, *model.graph.output)}
    return {name: shape for name, shape in found.items() if shape and min(shape) > 0}


def _shape(tensor: Any) -> Shape:
    sizes = [int(size.dim_value) for size in tensor.shape.dim]
    return (sizes[0] or 1, *sizes[1:]) if sizes else ()
