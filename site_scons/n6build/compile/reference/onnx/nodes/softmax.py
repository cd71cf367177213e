"""Softmax over one dimension.

As an output of the model it may be float32, too.
"""

from __future__ import annotations

import math

from n6build.compile.reference.onnx.building import Building
from n6build.compile.reference.onnx.node import Node, NodeFamily
from n6build.compile.reference.onnx.storage import stored_shape
from n6build.compile.reference.onnx.values import Held, Pending, Target, Value

# From this version on, Softmax is over one dimension; before, it was over all dimensions from `axis` on.
_OVER_ONE = 13


def _softmax(node: Node, building: Building) -> Value:
    given = node.quantised(0)
    rank = len(given.shape)
    axis = node.axis(int(node.attributes.get("axis", -1 if node.version >= _OVER_ONE else 1)), rank)
    if node.version < _OVER_ONE and math.prod(given.shape[axis + 1 :]) > 1:
        raise node.error(
            "N6-NET-008", "is over several dimensions", "reshape them to one, or export with operator set 13"
        )
    order = (*(each for each in given.order if each != axis), axis)

    def make(target: Target) -> Held:
        source = building.ordered(given, order)
        return building.made("QLinearSoftmax", [source.tensor], target, given.shape, order)

    def make_real(name: str) -> Held:
        source = building.ordered(given, order)
        output = building.tensor(name, "float32", stored_shape(given.shape, order))
        return Held(building.operator("Softmax", [source.tensor], output), given.shape, order)

    return Pending(given.shape, make, make_real=make_real)


FAMILY = NodeFamily({"Softmax": _softmax})
