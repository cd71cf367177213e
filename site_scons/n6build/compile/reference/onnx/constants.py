"""Constants that a node computes from constants.

The reference implementation of the package onnx computes them.

Exporters leave such nodes in a model: shapes, grids of anchors, and numbers in another type.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

Array = NDArray[Any]

# Largest number of elements of a computed constant.
_MOST = 1 << 24
# Nodes that the reader translates, since they decide what is quantised, or read no constant at all.
_TRANSLATED = frozenset(("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "Constant", "Identity"))
_RANDOM = ("Random", "Multinomial", "Bernoulli", "Dropout")


def folded(
    node: onnx.NodeProto, inputs: Mapping[str, NDArray[np.generic]], version: int
) -> dict[str, NDArray[np.generic]] | None:
    """Return the outputs of a node by name, or None if it is not computed here.

    Args:
        node: The node; all its inputs are constants.
        inputs: Elements of the inputs by name.
        version: Version of the operator set.
    """
    kind = str(node.op_type)
    if kind in _TRANSLATED or kind.startswith(_RANDOM) or "Linear" in kind or not inputs:
        return None
    if not onnx.defs.has(kind, max_inclusive_version=version):
        return None
    try:
        made = _evaluated(node, inputs, version) if _size(node, inputs) <= _MOST else []
    except Exception:  # Whatever inputs are missing or the implementation stops at, the reader then names the node.
        return None
    if not made:
        return None
    arrays = [np.asarray(each) for each in made]
    if any(each.dtype == object or each.size > _MOST for each in arrays):
        return None
    return dict(zip((name for name in node.output if name), arrays, strict=False))


def _evaluated(node: Any, inputs: Mapping[str, Array], version: int) -> list[Any]:
    from onnx.reference import ReferenceEvaluator  # noqa: PLC0415 - it takes 0.5 s, and few models need it.

    given, made = (
        [onnx.helper.make_empty_tensor_value_info(name) for name in names if name] for names in (inputs, node.output)
    )
    graph = onnx.helper.make_graph([node], "constants", given, made)
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", version)])
    with np.errstate(all="ignore"):
        return list(ReferenceEvaluator(model).run(None, dict(inputs)))


def _size(node: Any, inputs: Mapping[str, Array]) -> float:
    """Return a bound of the number of elements of each output.

    Nothing is computed for it.
    """
    arrays = [inputs[name] for name in node.input if name]
    if node.op_type == "ConstantOfShape":
        return _product(arrays[0])
    if node.op_type in ("Expand", "Tile"):
        return arrays[0].size * _product(arrays[1])
    if node.op_type == "Range":
        start, limit, delta = (float(each.reshape(-1)[0]) for each in arrays)
        return abs((limit - start) / delta) if delta else math.inf
    if node.op_type in ("Pad", "Resize", "Upsample", "OneHot", "CenterCropPad", "Col2Im"):
        return math.inf
    if node.op_type in ("Concat", "Gather", "Cast", "Shape", "Reshape", "Transpose", "Slice", "Where"):
        return sum(each.size for each in arrays) * max(1, arrays[-1].size if node.op_type == "Gather" else 1)
    return float(np.prod([max(1, each.size) for each in arrays], dtype=float))


def _product(sizes: Array) -> float:
    return float(np.prod(np.maximum(np.abs(sizes.astype(float)), 1)))
