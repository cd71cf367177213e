"""A float ONNX model with fixed shapes, as the quantiser takes it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError

from n6build.base.errors import N6Error, did_you_mean
from n6build.base.files import read_at_most

MAX_BYTES = 512 << 20
MAX_NODES = 10_000
MAX_RANK = 6
# Scales for each channel need an axis, which QuantizeLinear and DequantizeLinear have since this operator set.
LEAST_OPSET = 13
_STANDARD = ("", "ai.onnx")
_QUANTISED = (
    "QuantizeLinear",
    "DequantizeLinear",
    "QLinearConv",
    "QLinearMatMul",
    "QGemm",
    "ConvInteger",
    "MatMulInteger",
)
_SHOWN = 80


@dataclass(frozen=True)
class Input:
    """An input of the float model.

    Attributes:
        name: Name of the tensor.
        shape: Shape with the batch; 0 for an open size that only samples can tell.
        dtype: Type of an element, as NumPy names it.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str


def read_float_model(path: Path) -> onnx.ModelProto:
    """Read a float ONNX model.

    Raises:
        N6Error: N6-QUANT-001 for another format, or for a model that is already quantised; N6-MODEL-020 for a damaged
            file; N6-FILE-00x.
    """
    if path.suffix != ".onnx":
        what = f"stage 0 quantises .onnx and .tflite models, not {path.suffix}"
        hint = "docs/quantise.md shows how to convert other formats"
        raise N6Error("N6-QUANT-001", what, where=path.name, hint=hint)
    data = read_at_most(path, MAX_BYTES)
    try:
        model = onnx.load_model_from_string(data)
    except (DecodeError, ValueError, TypeError) as error:
        raise _damaged(path.name, "its bytes are no ONNX") from error
    if not model.ir_version or not model.graph.node:
        raise _damaged(path.name, "it has no graph")
    if len(model.graph.node) > MAX_NODES:
        raise _damaged(path.name, f"it has {len(model.graph.node)} nodes, more than {MAX_NODES}")
    if any(each.data_location == onnx.TensorProto.EXTERNAL for each in model.graph.initializer):
        hint = "save it as one file: onnx.save(onnx.load('net.onnx'), 'whole.onnx')"
        raise N6Error("N6-QUANT-001", "keeps its weights in another file", where=path.name, hint=hint)
    integer = next((node for node in model.graph.node if node.op_type in _QUANTISED), None)
    if integer is not None:
        what = f"is already quantised: it has the node '{integer.name[:_SHOWN]}' ({integer.op_type})"
        raise N6Error(
            "N6-QUANT-001", what, where=path.name, hint="omit samples= and quantise:, or give the float model"
        )
    return model


def _damaged(where: str, why: str) -> N6Error:
    hint = "save or download the file again: it may be incomplete"
    return N6Error("N6-MODEL-020", f"is not a valid onnx model: {why}", where=where, hint=hint)


def inputs_of(model: onnx.ModelProto) -> list[Input]:
    """Return the inputs, without initializers that old files list among them."""
    constants = {each.name for each in model.graph.initializer}
    found = []
    for port in model.graph.input:
        if port.name not in constants:
            tensor = port.type.tensor_type
            shape = tuple(max(0, int(each.dim_value)) for each in tensor.shape.dim)
            found.append(Input(port.name, shape, _dtype(tensor.elem_type)))
    return found


def _dtype(kind: int) -> str:
    try:
        return str(onnx.helper.tensor_dtype_to_np_dtype(kind))
    except (KeyError, TypeError, ValueError):
        return "unknown"


def fix_shapes(
    model: onnx.ModelProto, sizes: Mapping[str, int], rows: Mapping[str, Sequence[int]], where: str
) -> list[str]:
    """Give every open dimension of the inputs a size, in place.

    Args:
        model: The float model.
        sizes: Sizes by the name of the dimension; 'batch' is the first one of each input.
        rows: Shape of a sample for each input, which decides on dimensions without a size.
        where: Name of the model file.

    Returns:
        A line for each input whose shape was open.

    Raises:
        N6Error: N6-QUANT-002 for a dimension without a size, or a size without a dimension.
    """
    graph = model.graph
    _remove_constant_inputs(graph)
    known = {name for port in graph.input for axis in range(len(_dims(port))) for name in _names_of(port, axis)}
    fixed = [_fix_shape(port, sizes, rows.get(port.name, ()), where) for port in graph.input]
    if unused := set(sizes) - known:
        what = f"no input has the dimension '{min(unused)[:_SHOWN]}' of quantise.shape"
        raise N6Error("N6-QUANT-002", what, where=where, hint=did_you_mean(min(unused), known))
    lines = [line for line in fixed if line]
    if lines:
        # Shapes inside were inferred with the open sizes.
        del graph.value_info[:]
        for port in graph.output:
            port.type.tensor_type.ClearField("shape")
    return lines


def _remove_constant_inputs(graph: onnx.GraphProto) -> None:
    """Remove inputs that are initializers, in place.

    Old files list initializers among the inputs; then nothing may be folded into them.
    """
    constants = {each.name for each in graph.initializer}
    own = [
        onnx.ValueInfoProto.FromString(port.SerializeToString()) for port in graph.input if port.name not in constants
    ]
    del graph.input[:]
    graph.input.extend(own)


def _dims(port: onnx.ValueInfoProto) -> list[onnx.TensorShapeProto.Dimension]:
    return list(port.type.tensor_type.shape.dim)


def _names_of(port: onnx.ValueInfoProto, axis: int) -> list[str]:
    """Return the names of a dimension in quantise.shape, the best one first."""
    by_number = f"{port.name}.{axis}"
    names = [_dims(port)[axis].dim_param or by_number, by_number]
    return ["batch", *names] if axis == 0 else names


def _fix_shape(port: onnx.ValueInfoProto, sizes: Mapping[str, int], row: Sequence[int], where: str) -> str:
    """Give every open dimension of an input a size, in place.

    Args:
        port: The input.
        sizes: Sizes by the name of the dimension.
        row: Shape of a sample.
        where: Name of the model file.

    Returns:
        A line about the sizes; empty if the shape was not open.

    Raises:
        N6Error: N6-QUANT-002 for a dimension without a size.
    """
    dims = _dims(port)
    if len(dims) > MAX_RANK:
        what = f"input '{port.name[:_SHOWN]}' has {len(dims)} dimensions, more than {MAX_RANK}"
        raise N6Error("N6-QUANT-002", what, where=where)
    sample = _row_with_batch(row, len(dims))
    fixed = []
    for axis, dim in enumerate(dims):
        names, known = _names_of(port, axis), max(0, int(dim.dim_value))
        size = next((sizes[name] for name in names if name in sizes), known or sample[axis])
        name = names[0][:_SHOWN]
        if not size:
            what = f"input '{port.name[:_SHOWN]}' has an open dimension '{name}'"
            hint = f"write its size into model.yaml, for example quantise: {{shape: {{{name}: 224}}}}"
            raise N6Error("N6-QUANT-002", what, where=where, hint=hint)
        if size != known:
            fixed.append(f"{name} {size}")
            dim.Clear()
            dim.dim_value = size
    shape = " x ".join(str(each.dim_value) for each in dims)
    return f"{port.name[:_SHOWN]} is {shape}: {', '.join(fixed)}" if fixed else ""


def _row_with_batch(row: Sequence[int], rank: int) -> tuple[int, ...]:
    """Return the shape of a sample with batch 1.

    The other sizes are 0 if it has another rank.
    """
    whole = (1, *row) if len(row) == rank - 1 else tuple(row)
    return (1, *(whole[1:] if len(whole) == rank else [0] * (rank - 1)))


def keep_outputs(model: onnx.ModelProto, names: Sequence[str], where: str) -> list[str]:
    """Make tensors the outputs, and remove nodes that no output needs, in place.

    Args:
        model: The float model.
        names: Names of tensors; empty for the model's own outputs.
        where: Name of the model file.

    Returns:
        A line about removed nodes, if there are any.

    Raises:
        N6Error: N6-QUANT-003 if there is no such tensor.
    """
    if not names:
        return []
    graph = model.graph
    makers = {name: node for node in graph.node for name in node.output if name}
    for name in names:
        if name not in makers:
            what = f"no node makes the tensor '{name[:_SHOWN]}' of quantise.outputs"
            raise N6Error("N6-QUANT-003", what, where=where, hint=did_you_mean(name, makers))
    types = {each.name: each for each in (*graph.value_info, *graph.output)}
    ports = [
        types.get(name) or onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in names
    ]
    needed, waiting = set(), list(names)
    while waiting:
        node = makers.get(waiting.pop())
        if node is not None and id(node) not in needed:
            needed.add(id(node))
            waiting += node.input
    kept = [node for node in graph.node if id(node) in needed]
    removed = len(graph.node) - len(kept)
    ports = [onnx.ValueInfoProto.FromString(each.SerializeToString()) for each in ports]
    kept = [onnx.NodeProto.FromString(each.SerializeToString()) for each in kept]
    for field, values in ((graph.node, kept), (graph.output, ports)):
        del field[:]
        field.extend(values)
    return [f"{len(names)} outputs kept, {removed} nodes behind them removed"] if removed else []


def refuse_constant_outputs(model: onnx.ModelProto, where: str) -> None:
    """Check that each output depends on an input.

    Raises:
        N6Error: N6-QUANT-015 if one is a constant, such as the anchors of a detector.
    """
    graph = model.graph
    reached = {each.name for each in graph.input}
    # Nodes are in the order of execution.
    for node in graph.node:
        if not reached.isdisjoint(node.input):
            reached.update(node.output)
    names = [each.name for each in graph.output]
    constants = [name for name in names if name not in reached]
    if constants:
        what = f"output '{constants[0][:_SHOWN]}' is a constant: no input changes it"
        others = ", ".join(name[:_SHOWN] for name in names if name in reached)
        hint = f"leave it out, and keep its values in your program: quantise: {{outputs: [{others}]}}"
        raise N6Error("N6-QUANT-015", what, where=where, hint=hint)


def with_known_opset(model: onnx.ModelProto, where: str) -> onnx.ModelProto:
    """Return the model with an operator set that has scales for each channel.

    Raises:
        N6Error: N6-QUANT-004 if the model cannot be converted.
    """
    versions = [int(each.version) for each in model.opset_import if each.domain in _STANDARD]
    if not versions or max(versions) >= LEAST_OPSET:
        return model
    try:
        return onnx.version_converter.convert_version(model, LEAST_OPSET)
    except Exception as error:  # The converter raises errors of many kinds.
        what = f"cannot be converted from operator set {max(versions)} to {LEAST_OPSET}: {first_line(error)}"
        raise N6Error("N6-QUANT-004", what, where=where, hint="export it again with operator set 17") from error


def first_line(error: Exception) -> str:
    """Return the first line of an error's text, or its type if it has none."""
    lines = str(error).strip().splitlines()
    return lines[0][:300] if lines else type(error).__name__


def named_operators(operators: Iterable[tuple[str, str]], wanted: Sequence[str], where: str) -> tuple[str, ...]:
    """Return the names of operators that `exclude` names.

    Args:
        operators: Name and kind of each operator, such as Conv_52 and Conv.
        wanted: Names or kinds.
        where: Name of the model file.

    Raises:
        N6Error: N6-QUANT-003 if no operator is meant.
    """
    known = list(operators)
    found: dict[str, None] = {}
    for word in wanted:
        meant = [name for name, kind in known if word in (name, kind)]
        if not meant:
            what = f"no node has the name or operator {json.dumps(word[:_SHOWN])} of quantise.exclude"
            words = {each for pair in known for each in pair if each}
            raise N6Error("N6-QUANT-003", what, where=where, hint=did_you_mean(word, words))
        found |= dict.fromkeys(meant)
    return tuple(found)
