"""Nodes that move or choose real numbers which are not quantised."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx

from n6build.compile.reference.graph import DType
from n6build.compile.reference.onnx.building import Building
from n6build.compile.reference.onnx.node import Node, NodeFamily, Translate
from n6build.compile.reference.onnx.nodes import moving, reshaping, resizing
from n6build.compile.reference.onnx.operators.float_rows import TopKOptions
from n6build.compile.reference.onnx.real import in_float32, made_in_float32
from n6build.compile.reference.onnx.storage import stored_shape
from n6build.compile.reference.onnx.values import Constant, Held, Value

_MOVES = {**moving.FAMILY.translate, **reshaping.FAMILY.translate, **resizing.FAMILY.translate}
_MOVED = (
    *("Slice", "Split", "Pad", "Gather", "Expand", "Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze"),
    *("DepthToSpace", "SpaceToDepth", "Identity", "Dropout"),
)
_INTEGERS: dict[int, DType] = {onnx.TensorProto.INT32: "int32", onnx.TensorProto.INT64: "int64"}
_REAL = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.DOUBLE)


def in_memory(translate: Translate) -> Translate:
    """Return a translation that has its tensors in memory as float32."""

    def translated(node: Node, building: Building) -> Value | list[Value]:
        inputs = [
            value if value is None or isinstance(value, Constant) else in_float32(node, building, position)
            for position, value in enumerate(node.inputs)
        ]
        return translate(replace(node, inputs=tuple(inputs)), building)  # type: ignore[return-value]

    return translated


def _concat(node: Node, building: Building) -> Value:
    parts = [in_float32(node, building, position) for position in range(len(node.inputs))]
    shapes = [part.shape for part in parts]
    axis = node.axis(int(node.attributes["axis"]), len(shapes[0]))
    if len({shape[:axis] + shape[axis + 1 :] for shape in shapes}) != 1:
        raise node.error("N6-NET-007", f"the shapes {shapes} do not fit together", "export the model again")
    order = next((part.order for part in parts if part.tensor.data is None), parts[0].order)
    shape = (*shapes[0][:axis], sum(each[axis] for each in shapes), *shapes[0][axis + 1 :])
    tensors = [building.ordered(part, order).tensor for part in parts]
    return made_in_float32(node, building, "CONCATENATION", tensors, shape, order, order.index(axis))


def _top_k(node: Node, building: Building) -> list[Value]:
    """Translate a TopK. Its elements are sorted, whether that is required or not."""
    of = in_float32(node, building, 0)
    rank = len(of.shape)
    axis = node.axis(int(node.attributes.get("axis", -1)), rank)
    count = (node.integers("k", 1) or [0])[0]
    if not 1 <= count <= of.shape[axis]:
        raise node.error("N6-NET-007", f"takes {count} of {of.shape[axis]} elements", "export the model again")
    order = (*(each for each in of.order if each != axis), axis)
    shape = (*of.shape[:axis], count, *of.shape[axis + 1 :])
    options = TopKOptions(count, 1 if node.attributes.get("largest", 1) else -1)
    tensor = building.ordered(of, order).tensor
    types: tuple[DType, ...] = ("float32", "int64")
    return [
        made_in_float32(node, building, "FloatTopK", [tensor], shape, order, options, part, types[part])
        for part in range(len(node.outputs))
    ]


def _argument(kind: str) -> Translate:
    """Return the translation of an ArgMax or ArgMin.

    Integers decide it like the real numbers that they represent.
    """

    def translate(node: Node, building: Building) -> Value:
        value = node.value(0)
        of = value if isinstance(value, Held) and value.real else in_float32(node, building, 0)
        rank = len(of.shape)
        axis = node.axis(int(node.attributes.get("axis", 0)), rank)
        if node.attributes.get("select_last_index"):
            raise node.error("N6-NET-008", "takes the last of equal elements", "use select_last_index 0")
        source = building.ordered(of, of.order).tensor
        place = building.constant(f"{node.outputs[0]} axis", np.array([of.order.index(axis)], np.int32))
        order = tuple(each - (each > axis) for each in of.order if each != axis)
        shape = tuple(size for each, size in enumerate(of.shape) if each != axis)
        output = building.tensor(node.outputs[0], "int64", stored_shape(shape, order), order=order)
        found = Held(building.operator(kind, [source, place], output), shape, order)
        if not node.attributes.get("keepdims", 1):
            return found
        return reshaping.in_shape(building, found, (*of.shape[:axis], 1, *of.shape[axis + 1 :]))

    return translate


def _cast(node: Node, building: Building) -> Value:
    """Translate a Cast of real numbers.

    Nothing changes if its results are real numbers, too.
    """
    target = int(node.attributes["to"])
    if target in _REAL:
        return in_float32(node, building, 0)
    if target not in _INTEGERS:
        kind = onnx.TensorProto.DataType.Name(target)
        raise node.error("N6-NET-008", f"makes {kind}", "use a Cast to float32, int32 or int64")
    of = in_float32(node, building, 0)
    dtype = _INTEGERS[target]
    return made_in_float32(node, building, "CAST", [of.tensor], of.shape, of.order, None, 0, dtype)


def _resize(node: Node, building: Building) -> Value:
    """Translate a Resize of float32: the nearest elements, or linear."""
    if node.attributes.get("mode") != b"linear":
        return in_memory(_MOVES["Resize"])(node, building)  # type: ignore[return-value]
    of = in_float32(node, building, 0)
    shape, options = resizing.neighbours(node, of.shape)
    if shape == of.shape:
        return of
    order = (0, 2, 3, 1)
    return made_in_float32(node, building, "FloatResize", [building.ordered(of, order).tensor], shape, order, options)


_OTHERS: dict[str, Translate] = {
    "Concat": _concat,
    "Resize": _resize,
    "TopK": _top_k,
    "ArgMax": _argument("ARG_MAX"),
    "ArgMin": _argument("ARG_MIN"),
    "Cast": _cast,
}
FAMILY = NodeFamily(in_float32={kind: in_memory(_MOVES[kind]) for kind in _MOVED} | _OTHERS)
