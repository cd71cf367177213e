"""Nodes that are refused while an ONNX graph is read.

One error reports all of them. Placeholders replace their outputs.
"""

from __future__ import annotations

import contextlib
from typing import Any

import onnx

from n6build.base.errors import N6Error
from n6build.compile.reference.graph import Refusal
from n6build.compile.reference.onnx.building import Building
from n6build.compile.reference.onnx.storage import Shape, as_in_the_model
from n6build.compile.reference.onnx.values import Held, Pending, Target, Value
from n6build.compile.reference.refusals import error_of_all

_DAMAGED = "N6-NET-002"


class Refused:
    """Refusals that are collected while nodes are read.

    If the shape of a refused node's output is known, real numbers of that shape are its
    placeholder. Then the nodes behind it are checked, too.
    """

    def __init__(self, model: onnx.ModelProto, building: Building, file: str) -> None:
        self._model = model
        self._building = building
        self._file = file
        self._refusals: list[Refusal] = []
        self._shapes: dict[str, Shape] | None = None
        self._doubtful: set[str] = set()

    def add(self, place: int, kind: str, error: N6Error) -> None:
        """Add a refusal.

        Args:
            place: Position of the node.
            kind: Type of the node.
            error: Reason of the refusal.

        Raises:
            N6Error: The given error if the file is damaged, since all that follows would be
                guesses.
        """
        if error.id == _DAMAGED:
            raise error
        self._refusals.append(Refusal(place, kind, error.id, error.what, error.hint or ""))

    def is_doubtful(self, name: str) -> bool:
        """Return whether a value depends on the output of a refused node.

        Errors of nodes that read such real numbers are not reported.
        """
        return name in self._doubtful

    def doubt(self, names: list[str]) -> None:
        """Mark values as dependent on the output of a refused node."""
        self._doubtful.update(name for name in names if name)

    def stand_in(self, name: str) -> Value | None:
        """Return a placeholder, or None if the shape is not known."""
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
        """Raise one error for all refusals, if there are any.

        Args:
            nodes: Number of nodes of the graph.
        """
        if self._refusals:
            raise error_of_all(self._refusals, f"{nodes} nodes", self._file)


def _known_shapes(model: onnx.ModelProto) -> dict[str, Shape]:
    """Return the fixed shapes by the name of a value; an open batch becomes 1."""
    with contextlib.suppress(onnx.shape_inference.InferenceError, ValueError, RuntimeError):
        model = onnx.shape_inference.infer_shapes(model)
    found = {value.name: _shape(value.type.tensor_type) for value in (*model.graph.value_info, *model.graph.output)}
    return {name: shape for name, shape in found.items() if shape and min(shape) > 0}


def _shape(tensor: Any) -> Shape:
    sizes = [int(size.dim_value) for size in tensor.shape.dim]
    return (sizes[0] or 1, *sizes[1:]) if sizes else ()
