"""ReduceMean and ReduceSum over neighbouring dimensions."""

from __future__ import annotations

import itertools
import math

from n6build.compile.reference.onnx.building import Building
from n6build.compile.reference.onnx.node import Node, NodeFamily
from n6build.compile.reference.onnx.operators.real_mean import MeanOptions
from n6build.compile.reference.onnx.storage import Order, Shape, as_in_the_model
from n6build.compile.reference.onnx.values import Held, Pending, Target, Value


def _reduce(node: Node, building: Building) -> Value:
    """Translate a ReduceMean or ReduceSum.

    ONNX Runtime adds in vectors if the reduced dimensions are the last ones, else one element after
    another.
    """
    given = node.quantised(0)
    rank = len(given.shape)
    axes = sorted({node.axis(axis, rank) for axis in node.integers("axes", 1) or []})
    if not axes and node.attributes.get("noop_with_empty_axes"):
        return given
    axes = axes or list(range(rank))
    kept = [axis for axis in range(rank) if axis not in axes]
    shape = _reduced_shape(given.shape, axes, keeps_rank=bool(node.attributes.get("keepdims", 1)))
    rows, reduced = ([axis for axis in group if given.shape[axis] > 1] for group in (kept, axes))
    last = not rows or not reduced or rows[-1] < reduced[0]
    if not last and reduced[-1] > rows[0]:
        what = f"reduces the dimensions {axes} of {list(given.shape)}"
        raise node.error("N6-NET-008", what, "reduce the first or the last dimensions, with batch 1")
    count = math.prod(given.shape[axis] for axis in axes)

    def make(target: Target) -> Held:
        source, steps = given, [_step(given.shape, given.order, group) for group in (rows, reduced)]
        if None in steps:
            source = building.in_model_order(given)
            steps = [_step(given.shape, source.order, group) for group in (rows, reduced)]
        row_step, step = (each or 0 for each in steps)
        divisor = count if node.type == "ReduceMean" else 1
        options = MeanOptions(
            target.low, target.high, source.tensor.elements // count, count, row_step, step, divisor, last
        )
        return building.made("ReduceMean", [source.tensor], target, shape, as_in_the_model(len(shape)), options)

    return Pending(shape, make)


def _reduced_shape(shape: Shape, axes: list[int], *, keeps_rank: bool) -> Shape:
    """Return the shape after a reduction, which has one dimension at least."""
    if keeps_rank:
        return tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in axes) or (1,)


def _step(shape: Shape, order: Order, axes: list[int]) -> int | None:
    """Return the step in memory along these dimensions together, or None.

    It leads from one element to the next. It is None if it is not always the same.
    """
    if not axes:
        return 1
    strides = {axis: math.prod(shape[each] for each in order[order.index(axis) + 1 :]) for axis in axes}
    together = all(strides[a] == strides[b] * shape[b] for a, b in itertools.pairwise(axes))
    return strides[axes[-1]] if together else None


FAMILY = NodeFamily({"ReduceMean": _reduce, "ReduceSum": _reduce})
