"""Nodes that select boxes: NonMaxSuppression."""

from __future__ import annotations

import math
from dataclasses import replace

from n6build.compile.reference.onnx.building import Building
from n6build.compile.reference.onnx.node import Node, NodeFamily
from n6build.compile.reference.onnx.operators.non_max_suppression import NUMBERS_EACH, SelectionOptions, most_rows
from n6build.compile.reference.onnx.real import in_float32, made_in_float32
from n6build.compile.reference.onnx.storage import as_in_the_model
from n6build.compile.reference.onnx.values import Value

_AGAIN = "export the model again"


def _number(node: Node, position: int) -> float | None:
    """Return an optional constant number.

    Raises:
        N6Error: N6-NET-007 if it is no constant, or not a finite number.
    """
    constant = node.optional_constant(position)
    if constant is None:
        return None
    if constant.array.size != 1 or not math.isfinite(float(constant.array.reshape(-1)[0])):
        raise node.error("N6-NET-007", f"its input {position} is not a finite number", _AGAIN)
    return float(constant.array.reshape(-1)[0])


def _options(node: Node) -> SelectionOptions:
    most, most_overlap, least_score = (_number(node, position) for position in (2, 3, 4))
    if most is None or most < 1:
        hint = "set max_output_boxes_per_class to 1 or more"
        raise node.error("N6-NET-007", f"selects {int(most or 0)} boxes of a class", hint)
    if not 0 <= (most_overlap or 0.0) <= 1:
        raise node.error("N6-NET-007", f"its iou_threshold {most_overlap:g} is outside 0 to 1", _AGAIN)
    form = int(node.attributes.get("center_point_box", 0))
    if form not in (0, 1):
        raise node.error("N6-NET-008", f"its center_point_box is {form}", "use center_point_box 0 or 1")
    return SelectionOptions(int(most), most_overlap or 0.0, least_score, form == 1)


def _non_max_suppression(node: Node, building: Building) -> Value:
    """Translate a NonMaxSuppression.

    Its output has the largest possible number of rows.
    """
    options = _options(node)
    boxes, scores = (in_float32(node, building, position) for position in (0, 1))
    fits = len(boxes.shape) == len(scores.shape) == 3 and boxes.shape == (scores.shape[0], scores.shape[2], 4)
    if not fits:
        what = f"boxes {list(boxes.shape)} and scores {list(scores.shape)} do not fit together"
        raise node.error("N6-NET-007", what, "use boxes [batch, count, 4] and scores [batch, classes, count]")
    tensors = [building.in_model_order(each).tensor for each in (boxes, scores)]
    shape = (most_rows(scores.shape, options.most), NUMBERS_EACH)
    kind, order = "FloatNonMaxSuppression", as_in_the_model(len(shape))
    made = made_in_float32(node, building, kind, tensors, shape, order, options, dtype="int64")
    return replace(made, rows_vary=True)


FAMILY = NodeFamily(in_float32={"NonMaxSuppression": _non_max_suppression})
