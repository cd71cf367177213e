"""Nodes that change the shape or the order of dimensions.

No element moves before an operator needs another order in memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from n6build.compile.reference.onnx.building import Building
from n6build.compile.reference.onnx.node import Node, NodeFamily
from n6build.compile.reference.onnx.storage import Shape, as_in_the_model, stored_shape, transposed
from n6build.compile.reference.onnx.values import Constant, Held, Pending, Value

_QUANTISE = "quantise its input, too: QuantizeLinear and DequantizeLinear before it"


def held(node: Node, position: int = 0) -> Held:
    """Return an input in memory.

    Raises:
        N6Error: N6-NET-004 if it is not quantised; N6-NET-007 if it is absent.
    """
    value = node.value(position)
    if not isinstance(value, Held):
        raise node.error("N6-NET-004", f"its input {position} is not quantised", _QUANTISE)
    return value


def _same(node: Node, _: Building) -> Value:
    return node.value(0)


def _transpose(node: Node, _: Building) -> Value:
    value = node.value(0)
    rank = len(value.shape)
    perm = [int(axis) for axis in node.attributes.get("perm", reversed(range(rank)))]
    if sorted(perm) != list(range(rank)):
        raise node.error("N6-NET-007", f"perm {perm} is none of {rank} dimensions", "export the model again")
    if isinstance(value, Constant):
        if value.quantisation is None:
            return Constant(value.array.transpose(perm))
        axis = value.quantisation.axis
        moved = perm.index(axis) if len(value.quantisation.scales) > 1 else axis
        return Constant(value.array.transpose(perm), replace(value.quantisation, axis=moved))
    shape = tuple(value.shape[axis] for axis in perm)

    def turned(of: Held) -> Held:
        return replace(of, shape=shape, order=transposed(of.order, perm))

    return moving(value, shape, turned) if isinstance(value, Pending) else turned(held(node))


def moving(value: Pending, shape: Shape, move: Callable[[Held], Held]) -> Pending:
    """Return numbers that move behind the operator that makes them.

    Each number stays as it is, so that it may be quantised before it moves.

    Args:
        value: Numbers that are not in memory.
        shape: Their new shape in the ONNX graph.
        move: Function that moves a tensor.
    """
    make_real, source = value.make_real, value.source
    return replace(
        value,
        shape=shape,
        make=lambda target: move(value.make(target)),
        source=None if source is None else move(source),
        make_real=None if make_real is None else lambda name: move(make_real(name)),
        scaled=None,
    )


def _into(node: Node, building: Building, shape: Shape) -> Value:
    value = node.value(0)
    if math.prod(shape) != math.prod(value.shape):
        what = f"{list(value.shape)} does not become {list(shape)}"
        raise node.error("N6-NET-007", what, "export the model with fixed shapes and batch 1")
    if isinstance(value, Constant):
        per_tensor = value.quantisation is None or len(value.quantisation.scales) == 1
        if not per_tensor:
            raise node.error("N6-NET-006", "reshapes weights with a scale for each channel", "quantise behind it")
        return Constant(value.array.reshape(shape), value.quantisation)
    if isinstance(value, Pending):
        return moving(value, shape, lambda of: in_shape(building, of, shape))
    return in_shape(building, held(node), shape)


def in_shape(building: Building, of: Held, shape: Shape) -> Held:
    """Return a tensor in another shape of as many elements.

    The elements are in the order of the ONNX graph.
    """
    return _only_ones_change(of, shape) or building.reshaped(of, shape)


def _only_ones_change(of: Held, shape: Shape) -> Held | None:
    """Return the same memory in another shape, or None.

    It is None if more changes than dimensions of size 1. All others keep their order in memory.
    """
    if [size for size in of.shape if size != 1] != [size for size in shape if size != 1]:
        return None
    if stored_shape(of.shape, of.order) != of.tensor.shape:
        return None
    old = [axis for axis, size in enumerate(of.shape) if size != 1]
    new = [axis for axis, size in enumerate(shape) if size != 1]
    ones = [axis for axis, size in enumerate(shape) if size == 1]
    renamed = dict(zip(old, new, strict=True))
    order = (*ones, *(renamed[axis] for axis in of.order if axis in renamed))
    return replace(of, shape=shape, order=order)


def _reshape(node: Node, building: Building) -> Value:
    given = node.value(0).shape
    asked = node.integers("shape", 1) or []
    shape = [
        given[axis] if size == 0 and not node.attributes.get("allowzero") and axis < len(given) else size
        for axis, size in enumerate(asked)
    ]
    if shape.count(-1) == 1:
        rest = math.prod(size for size in shape if size != -1)
        shape[shape.index(-1)] = math.prod(given) // rest if rest > 0 else 0
    if any(size < 1 for size in shape):
        raise node.error(
            "N6-NET-005", f"makes the shape {asked} of {list(given)}", "export the model with fixed shapes"
        )
    return _into(node, building, tuple(shape))


def _flatten(node: Node, building: Building) -> Value:
    shape = node.value(0).shape
    axis = int(node.attributes.get("axis", 1))
    axis = axis + len(shape) if axis < 0 else axis
    return _into(node, building, (math.prod(shape[:axis]), math.prod(shape[axis:])))


def _squeeze(node: Node, building: Building) -> Value:
    shape = node.value(0).shape
    axes = node.integers("axes", 1)
    named = {node.axis(axis, len(shape)) for axis in axes} if axes else {i for i, size in enumerate(shape) if size == 1}
    return _into(node, building, tuple(size for axis, size in enumerate(shape) if axis not in named))


def _unsqueeze(node: Node, building: Building) -> Value:
    shape = list(node.value(0).shape)
    axes = node.integers("axes", 1) or []
    for axis in sorted(node.axis(axis, len(shape) + len(axes)) for axis in axes):
        shape.insert(axis, 1)
    return _into(node, building, tuple(shape))


def _shape(node: Node, _: Building) -> Value:
    shape = node.value(0).shape
    part = slice(node.attributes.get("start", 0), node.attributes.get("end"))
    return Constant(np.array(shape[part], np.int64))


def _depth_to_space(node: Node, building: Building) -> Value:
    """Translate a DepthToSpace to a reshape, a transposition and another reshape."""
    of = held(node)
    batch, channels, height, width = of.shape
    block = int(node.attributes["blocksize"])
    if block < 1 or channels % (block * block):
        raise node.error(
            "N6-NET-007", f"{channels} channels are not {block} x {block} times some", "export the model again"
        )
    depth = channels // (block * block)
    if node.attributes.get("mode", b"DCR") == b"DCR":
        parts, perm = (batch, block, block, depth, height, width), (0, 3, 4, 1, 5, 2)
    else:
        parts, perm = (batch, depth, block, block, height, width), (0, 1, 4, 2, 5, 3)
    split = building.reshaped(of, parts)
    shape = tuple(parts[axis] for axis in perm)
    moved = replace(split, shape=shape, order=transposed(as_in_the_model(6), perm))
    return building.reshaped(moved, (batch, depth, height * block, width * block))


def _space_to_depth(node: Node, building: Building) -> Value:
    """Translate a SpaceToDepth, the inverse of `_depth_to_space`."""
    of = held(node)
    batch, channels, height, width = of.shape
    block = int(node.attributes["blocksize"])
    if block < 1 or height % block or width % block:
        what = f"{height} x {width} are no blocks of {block} x {block}"
        raise node.error("N6-NET-007", what, "export the model again")
    high, wide = height // block, width // block
    split = building.reshaped(of, (batch, channels, high, block, wide, block))
    perm = (0, 3, 5, 1, 2, 4)
    shape = tuple(split.shape[axis] for axis in perm)
    moved = replace(split, shape=shape, order=transposed(as_in_the_model(6), perm))
    return building.reshaped(moved, (batch, channels * block * block, high, wide))


FAMILY = NodeFamily(
    {
        "Identity": _same,
        "Dropout": _same,
        "Transpose": _transpose,
        "Reshape": _reshape,
        "Flatten": _flatten,
        "Squeeze": _squeeze,
        "Unsqueeze": _unsqueeze,
        "Shape": _shape,
        "DepthToSpace": _depth_to_space,
        "SpaceToDepth": _space_to_depth,
    }
)
