"""Reading and first checks of an ONNX file.

A file that this backend cannot read at all is refused here as a whole, before anything is made of
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
from google.protobuf.message import DecodeError

from n6build.base.errors import N6Error
from n6build.base.files import read_bytes

MAX_NODES = 10_000
MAX_NAME = 256
MAX_RANK = 6
# Versions of the standard operators. QuantizeLinear is older, but its axis is not.
OPSETS = range(11, 24)
_STANDARD = ("", "ai.onnx")
_MICROSOFT = "com.microsoft"
_CONTROL_FLOW = ("If", "Loop", "Scan", "SequenceMap")
_QUANTISING = (
    "give about 100 inputs like those of the network, and n6build quantises it: samples=samples.npy, or quantise: "
    "{samples: samples.npy} in model.yaml"
)


def read_model(path: Path) -> onnx.ModelProto:
    """Return the ModelProto of a file.

    Raises:
        N6Error: N6-FILE-002 if the file cannot be read; N6-FILE-006 if Git LFS has not downloaded
            it; N6-NET-001 if it is not an ONNX model; N6-NET-002 if it is damaged, with too many
            nodes.
    """
    data = read_bytes(path)
    try:
        model = onnx.load_model_from_string(data)
    except (DecodeError, ValueError, TypeError) as error:
        raise N6Error(
            "N6-NET-001", "is not an ONNX model", where=path.name, hint="give a complete .onnx file"
        ) from error
    if not model.ir_version or not model.graph.node:
        raise N6Error("N6-NET-001", "has no ONNX graph", where=path.name, hint="give a complete .onnx file")
    if len(model.graph.node) > MAX_NODES:
        what = f"has {len(model.graph.node)} nodes, more than {MAX_NODES}"
        raise N6Error("N6-NET-002", what, where=path.name, hint="export the model again")
    return model


def check_model(model: onnx.ModelProto, where: str) -> int:
    """Check a model and return the version of its operator set.

    Raises:
        N6Error: N6-NET-004 if nothing is quantised; N6-NET-008 if the operator set, external
            weights, sparse tensors, functions or control flow are not supported.
    """
    version = _version(model, where)
    graph = model.graph
    if any(_stored_elsewhere(tensor) for tensor in graph.initializer):
        _refuse(where, "keeps its weights in another file", "save it as one file (onnx.save without external data)")
    if graph.sparse_initializer or model.functions:
        _refuse(where, "has sparse tensors or functions of its own", "export it without them")
    inside = [node.op_type for node in graph.node if node.op_type in _CONTROL_FLOW or _has_graphs(node)]
    if inside:
        hint = "export the model without control flow, for one fixed input shape"
        _refuse(where, f"has control flow: {', '.join(sorted(set(inside)))}", hint)
    if not any(_is_quantised(node) for node in graph.node):
        what = f"is a model of float32: none of its {len(graph.node)} nodes is quantised; this backend computes int8"
        raise N6Error("N6-NET-004", what, where=where, hint=_QUANTISING)
    return version


def _version(model: Any, where: str) -> int:
    versions = [int(each.version) for each in model.opset_import if each.domain in _STANDARD]
    if len(versions) != 1 or versions[0] not in OPSETS:
        shown = ", ".join(map(str, versions)) or "none"
        hint = f"convert it to {OPSETS.start} to {OPSETS.stop - 1} with onnx.version_converter"
        _refuse(where, f"has the operator set {shown}", hint)
    return versions[0]


def _refuse(where: str, what: str, hint: str) -> None:
    raise N6Error("N6-NET-008", what, where=where, hint=hint)


def _stored_elsewhere(tensor: Any) -> bool:
    return bool(tensor.data_location == onnx.TensorProto.EXTERNAL)


def _has_graphs(node: Any) -> bool:
    return any(attribute.HasField("g") or len(attribute.graphs) > 0 for attribute in node.attribute)


def _is_quantised(node: Any) -> bool:
    kind = str(node.op_type)
    return "Linear" in kind or kind == "QGemm" or kind.endswith("Integer")


def is_foreign(node: onnx.NodeProto) -> bool:
    """Return whether this backend does not know the node's domain."""
    return node.domain not in (*_STANDARD, _MICROSOFT)


def described(node: onnx.NodeProto) -> str:
    """Return the type of a node, behind its domain if that is not the standard one."""
    prefix = "" if node.domain in _STANDARD else f"{node.domain[:MAX_NAME]}."
    return f"{prefix}{node.op_type[:MAX_NAME]}"


def constants_of(node: onnx.NodeProto) -> Iterator[object]:
    """Yield the value of a node of type Constant, as a TensorProto or numbers."""
    for attribute in node.attribute:
        if attribute.name in ("value", "value_float", "value_floats", "value_int", "value_ints"):
            yield onnx.helper.get_attribute_value(attribute)
