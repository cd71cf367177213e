"""A float .tflite model, as ai-edge-quantizer takes it.

Files of old converters have operator codes that the quantiser misreads, constants that several operators
share, and equal names. Here they are brought into the form of today's converter.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

from n6build.base.errors import N6Error, did_you_mean
from n6build.base.files import read_at_most
from n6build.compile.quantise.float_model import MAX_BYTES, Input
from n6build.compile.quantise.media import is_array
from n6build.compile.quantise.samples import open_samples
from n6build.compile.quantise.tflite_shapes import fix_shapes, is_open, wanted_shapes
from n6build.compile.reference.reference_options import names_in
from n6build.compile.reference.tflite_reader import BROKEN, damaged, read_graph
from n6build.describe.quantise import Quantise

_IDENTIFIER = b"TFL3"
_OPERATORS = names_in(schema.BuiltinOperator)
_TYPES = {code: name.lower() for code, name in names_in(schema.TensorType).items()}
_INTEGERS = (schema.TensorType.INT8, schema.TensorType.UINT8, schema.TensorType.INT16)
_SHOWN = 80


@dataclass(frozen=True)
class FloatTflite:
    """A float model with a name for each tensor, and one reader of a constant.

    Attributes:
        data: Bytes of the .tflite file.
        inputs: Inputs with fixed shapes.
        activations: Name of each float32 tensor that depends on an input.
        operators: Name of the first output and kind of each operator, such as CONV_2D.
        lines: Lines about shapes and outputs.
    """

    data: bytes
    inputs: list[Input]
    activations: tuple[str, ...]
    operators: tuple[tuple[str, str], ...]
    lines: tuple[str, ...]


def read_float_tflite(path: Path, settings: Quantise, files: Sequence[Path] = ()) -> FloatTflite:
    """Read a float .tflite model.

    Args:
        path: File of the model.
        settings: Settings of stage 0.
        files: Files with samples; the shape of arrays decides on open sizes.

    Raises:
        N6Error: N6-NET-001 or N6-NET-002 for a damaged file; N6-NET-008 for several subgraphs; N6-QUANT-001 for a
            model that is already quantised; N6-QUANT-002 for open sizes that nothing tells;
            N6-QUANT-003 for an output that no operator makes; N6-QUANT-015 for a constant one.
    """
    # The reader bounds every count; only then the library of the schema makes objects of them.
    read_graph(path)
    try:
        return _brought_up(_tree_of(read_at_most(path, MAX_BYTES)), settings, files, path.name)
    except BROKEN as error:
        raise damaged(path.name, f"a table points outside the file ({type(error).__name__})") from error


def _brought_up(tree: schema.ModelT, settings: Quantise, files: Sequence[Path], where: str) -> FloatTflite:
    for code in tree.operatorCodes:
        code.builtinCode = max(code.builtinCode, code.deprecatedBuiltinCode)
    # The first subgraph computes; without operators of variables, no other one is called.
    graph = tree.subgraphs[0]
    _refuse_integers(graph, where)
    lines = _keep_outputs(tree, settings.outputs, where)
    inputs, shapes = _fixed_inputs(tree, settings.shape, files, where)
    reached = _reached(graph)
    _refuse_constants(graph, reached, where)
    _fold_half_precision(tree)
    _own_constants(tree)
    _rename(graph)
    # Its tensors have other names now.
    tree.signatureDefs = []
    names = [each.name.decode("utf-8", "replace") for each in graph.tensors]
    floats = [
        name
        for index, (name, each) in enumerate(zip(names, graph.tensors, strict=True))
        if index in reached and each.type == schema.TensorType.FLOAT32
    ]
    operators = [(names[each.outputs[0]], _kind(tree, each)) for each in graph.operators if len(each.outputs)]
    ports = [Input(names[place], each.shape, each.dtype) for place, each in zip(graph.inputs, inputs, strict=True)]
    return FloatTflite(_packed(tree), ports, tuple(floats), tuple(operators), (*lines, *shapes))


def with_codes_of_each_reader(data: bytes) -> bytes:
    """Return a model with operator codes in the field of old readers, too."""
    tree = _tree_of(data)
    for code in tree.operatorCodes:
        code.deprecatedBuiltinCode = min(code.builtinCode, schema.BuiltinOperator.PLACEHOLDER_FOR_GREATER_OP_CODES)
    return _packed(tree)


def _tree_of(data: bytes) -> schema.ModelT:
    """Return the objects of a model, with constants that are stored behind its tables."""
    tree = schema.ModelT.InitFromObj(schema.Model.GetRootAs(data, 0))
    for buffer in tree.buffers:
        # An offset of 1 means an empty buffer.
        if buffer.offset > 1:
            buffer.data = np.frombuffer(data[buffer.offset : buffer.offset + buffer.size], np.uint8)
        buffer.offset = buffer.size = 0
    return tree


def _packed(tree: schema.ModelT) -> bytes:
    builder = flatbuffers.Builder(1024)
    builder.Finish(tree.Pack(builder), _IDENTIFIER)
    return bytes(builder.Output())


def _kind(tree: schema.ModelT, operator: schema.OperatorT) -> str:
    return _OPERATORS.get(tree.operatorCodes[operator.opcodeIndex].builtinCode, "CUSTOM")


def _shown(tensor: schema.TensorT) -> str:
    return str((tensor.name or b"").decode("utf-8", "replace")[:_SHOWN])


def _refuse_integers(graph: schema.SubGraphT, where: str) -> None:
    """Check that no operator computes in integers.

    Weights may be int8: the quantiser keeps them.
    """
    made = [index for each in graph.operators for index in each.outputs]
    for index in (*graph.inputs, *made):
        tensor = graph.tensors[index]
        if tensor.type in _INTEGERS:
            what = f"is already quantised: '{_shown(tensor)}' is {_TYPES[tensor.type]}"
            hint = "omit samples= and quantise:, or give the float model"
            raise N6Error("N6-QUANT-001", what, where=where, hint=hint)


def _keep_outputs(tree: schema.ModelT, names: Sequence[str], where: str) -> list[str]:
    """Make tensors the outputs, and remove operators that no output needs."""
    if not names:
        return []
    graph = tree.subgraphs[0]
    makers = {int(index): each for each in graph.operators for index in each.outputs}
    places = {graph.tensors[index].name.decode("utf-8", "replace"): index for index in makers}
    for name in names:
        if name not in places:
            what = f"no operator makes the tensor '{name[:_SHOWN]}' of quantise.outputs"
            raise N6Error("N6-QUANT-003", what, where=where, hint=did_you_mean(name, places))
    needed, waiting = set(), [places[name] for name in names]
    while waiting:
        operator = makers.get(waiting.pop())
        if operator is not None and id(operator) not in needed:
            needed.add(id(operator))
            waiting += map(int, operator.inputs)
    kept = [each for each in graph.operators if id(each) in needed]
    removed = len(graph.operators) - len(kept)
    graph.operators, graph.outputs = kept, [places[name] for name in names]
    return [f"{len(names)} outputs kept, {removed} operators behind them removed"] if removed else []


def _reached(graph: schema.SubGraphT) -> set[int]:
    """Return the tensors that depend on an input."""
    reached = set(map(int, graph.inputs))
    # Operators are in the order of execution.
    for each in graph.operators:
        if not reached.isdisjoint(map(int, each.inputs)):
            reached.update(map(int, each.outputs))
    return reached


def _refuse_constants(graph: schema.SubGraphT, reached: set[int], where: str) -> None:
    constants = [index for index in graph.outputs if index not in reached]
    if constants:
        others = ", ".join(_shown(graph.tensors[index]) for index in graph.outputs if index in reached)
        what = f"output '{_shown(graph.tensors[constants[0]])}' is a constant: no input changes it"
        hint = f"leave it out, and keep its values in your program: quantise: {{outputs: [{others}]}}"
        raise N6Error("N6-QUANT-015", what, where=where, hint=hint)


def _fixed_inputs(
    tree: schema.ModelT, sizes: dict[str, int], files: Sequence[Path], where: str
) -> tuple[list[Input], list[str]]:
    """Give every tensor a fixed shape.

    The inputs are returned, and a line for each that was open.
    """
    graph = tree.subgraphs[0]
    ports = [graph.tensors[index] for index in graph.inputs]
    inputs = [Input(_shown(each), tuple(map(int, _shape(each))), _TYPES[each.type]) for each in ports]
    # Arrays tell open sizes; pictures and sounds get the size that the input has.
    rows = open_samples(files, inputs).shapes if files and is_array(files[0]) else {}
    shapes, lines = wanted_shapes(graph, sizes, rows, where)
    if is_open(graph, shapes):
        fix_shapes(tree, _packed(tree), shapes, where)
    for tensor in graph.tensors:
        tensor.shapeSignature = None
    return [replace(each, shape=shape) for each, shape in zip(inputs, shapes, strict=True)], lines


def _shape(tensor: schema.TensorT) -> Sequence[int]:
    return tensor.shape if tensor.shape is not None else ()


def _fold_half_precision(tree: schema.ModelT) -> None:
    """Make float32 constants of weights that a DEQUANTIZE reads as float16."""
    graph = tree.subgraphs[0]
    kept, halves = [], set()
    for each in graph.operators:
        source = graph.tensors[each.inputs[0]] if len(each.inputs) else None
        if _kind(tree, each) != "DEQUANTIZE" or source is None or source.type != schema.TensorType.FLOAT16:
            kept.append(each)
            continue
        values = np.frombuffer(bytes(tree.buffers[source.buffer].data), "<f2").astype("<f4")
        buffer = schema.BufferT()
        buffer.data = np.frombuffer(values.tobytes(), np.uint8)
        graph.tensors[each.outputs[0]].buffer = len(tree.buffers)
        tree.buffers.append(buffer)
        halves.add(source.buffer)
    graph.operators = kept
    for place in halves:
        tree.buffers[place].data = None


def _own_constants(tree: schema.ModelT) -> None:
    """Give each operator its own copy of a constant.

    The scale of a bias is that of its operator.
    """
    graph = tree.subgraphs[0]
    readers: set[int] = set()
    buffers: set[int] = set()
    for operator in graph.operators:
        inputs = [int(index) for index in operator.inputs]
        for place, index in enumerate(inputs):
            if index < 0 or not _is_constant(tree, graph.tensors[index]):
                continue
            tensor = graph.tensors[index]
            if index in readers:
                tensor = copy.deepcopy(tensor)
                inputs[place] = len(graph.tensors)
                graph.tensors.append(tensor)
            readers.add(index)
            if tensor.buffer in buffers:
                tree.buffers.append(copy.deepcopy(tree.buffers[tensor.buffer]))
                tensor.buffer = len(tree.buffers) - 1
            buffers.add(tensor.buffer)
        operator.inputs = inputs


def _is_constant(tree: schema.ModelT, tensor: schema.TensorT) -> bool:
    data = tree.buffers[tensor.buffer].data if 0 < tensor.buffer < len(tree.buffers) else None
    return data is not None and len(data) > 0


def _rename(graph: schema.SubGraphT) -> None:
    """Give each tensor its own name, and remove the scales of float32 tensors."""
    known: set[bytes] = set()
    for number, tensor in enumerate(graph.tensors):
        name = (tensor.name or b"tensor").decode("utf-8", "replace").encode()
        tensor.name = name if name not in known else name + b"#%d" % number
        known.add(tensor.name)
        if tensor.type == schema.TensorType.FLOAT32:
            tensor.quantization = None
