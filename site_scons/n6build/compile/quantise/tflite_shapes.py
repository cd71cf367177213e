"""Fixed shapes for a float .tflite model with open sizes.

LiteRT resizes the inputs and computes the shapes of all tensors. Operators that only compute sizes, such as SHAPE,
become constants.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType

from n6build.base.errors import N6Error, did_you_mean
from n6build.compile.quantise.float_model import first_line

# Names of the axes of a picture; those of others are their number behind the name of the input.
_OF_PICTURE = {1: "height", 2: "width"}
_PICTURE_AXES = 4
_SIZES = (schema.BuiltinOperator.SHAPE, schema.BuiltinOperator.RANK)
_SHOWN = 80


def wanted_shapes(
    graph: schema.SubGraphT, sizes: Mapping[str, int], rows: Mapping[str, Sequence[int]], where: str
) -> tuple[list[tuple[int, ...]], list[str]]:
    """Return the fixed shape of each input, and a line for each that was open.

    Args:
        graph: The graph.
        sizes: Sizes of quantise.shape by name: batch, height and width, or an input's name with the number of an axis.
        rows: Shape of a sample for each input, which decides on open sizes without a name.
        where: Name of the file.

    Raises:
        N6Error: N6-QUANT-002 for an open size that nothing tells, or a name that no input has.
    """
    shapes: list[tuple[int, ...]] = []
    lines: list[str] = []
    known: list[str] = []
    for index in graph.inputs:
        tensor = graph.tensors[index]
        name = (tensor.name or b"").decode("utf-8", "replace")[:_SHOWN]
        shape, line = _wanted_shape(tensor, name, sizes, rows.get(name, ()), where)
        known += [each for axis in range(len(shape)) for each in _names_of(name, axis, len(shape))]
        shapes.append(shape)
        lines += [line] if line else []
    if unused := set(sizes).difference(known):
        what = f"no input has the dimension '{min(unused)[:_SHOWN]}' of quantise.shape"
        raise N6Error("N6-QUANT-002", what, where=where, hint=did_you_mean(min(unused), ["batch", *known]))
    return shapes, lines


def _names_of(name: str, axis: int, rank: int) -> list[str]:
    """Return the names of an axis in quantise.shape, the best one first."""
    by_number = f"{name}.{axis}"
    if axis == 0:
        return ["batch", by_number]
    return [_OF_PICTURE[axis], by_number] if rank == _PICTURE_AXES and axis in _OF_PICTURE else [by_number]


def _wanted_shape(
    tensor: schema.TensorT, name: str, sizes: Mapping[str, int], row: Sequence[int], where: str
) -> tuple[tuple[int, ...], str]:
    """Return the fixed shape of an input, and a line about it.

    The line is empty if the shape was not open.

    Args:
        tensor: The input.
        name: Its name.
        sizes: Sizes of quantise.shape by name.
        row: Shape of a sample.
        where: Name of the file.

    Raises:
        N6Error: N6-QUANT-002 for an open size that is not known.
    """
    given = [int(each) for each in (tensor.shape if tensor.shape is not None else ())]
    signature = tensor.shapeSignature if tensor.shapeSignature is not None else given
    sample = tuple(row) if len(row) == len(given) else (1, *row)
    shape, fixed = [], []
    for axis, size in enumerate(given):
        names = _names_of(name, axis, len(given))
        is_open = axis < len(signature) and signature[axis] < 0
        wanted = next((sizes[each] for each in names if each in sizes), 0)
        if not wanted:
            wanted = size if axis == 0 or not is_open else sample[axis] if len(sample) == len(given) else 0
        if not wanted:
            what = f"input '{name}' has an open dimension {axis} ({names[0]})"
            hint = f"write its size into model.yaml, for example quantise: {{shape: {{{names[0]}: 96}}}}"
            raise N6Error("N6-QUANT-002", what, where=where, hint=hint)
        shape.append(wanted)
        if is_open or wanted != size:
            fixed.append(f"{names[0]} {wanted}")
    return tuple(shape), f"{name} is {' x '.join(map(str, shape))}: {', '.join(fixed)}" if fixed else ""


def is_open(graph: schema.SubGraphT, shapes: Sequence[Sequence[int]]) -> bool:
    """Return whether a graph has open shapes, or its inputs have other ones."""
    ports = [graph.tensors[index] for index in graph.inputs]
    return any(
        list(port.shape) != list(shape) or any(size < 0 for size in list(_signature(port))[1:])
        for port, shape in zip(ports, shapes, strict=True)
    )


def _signature(tensor: schema.TensorT) -> Sequence[int]:
    return tensor.shapeSignature if tensor.shapeSignature is not None else ()


def fix_shapes(tree: schema.ModelT, data: bytes, shapes: Sequence[tuple[int, ...]], where: str) -> None:
    """Give the inputs these shapes, and all other tensors those that follow, in place.

    Args:
        tree: The model.
        data: The same model as bytes.
        shapes: Shape of each input.
        where: Name of the file.

    Raises:
        N6Error: N6-QUANT-002 if LiteRT cannot compute with these shapes.
    """
    graph = tree.subgraphs[0]
    try:
        found = _computed(data, dict(zip(map(int, graph.inputs), shapes, strict=True)))
    except (RuntimeError, ValueError) as error:
        shown = ", ".join(" x ".join(map(str, each)) for each in shapes)
        what = f"its operators do not take an input of {shown}: {first_line(error)}"
        hint = "convert the model again with an input of that size, or write another quantise.shape"
        raise N6Error("N6-QUANT-002", what, where=where, hint=hint) from error
    for index, values in found.items():
        if index < len(graph.tensors):
            graph.tensors[index].shape = list(values.shape)
    sizes: set[int] = set()
    kept = []
    for operator in graph.operators:
        code = tree.operatorCodes[operator.opcodeIndex].builtinCode
        inputs = [int(each) for each in operator.inputs if each >= 0]
        of_sizes = bool(sizes.intersection(inputs)) and all(
            each in sizes or _is_constant(tree, graph.tensors[each]) for each in inputs
        )
        if code not in _SIZES and not of_sizes:
            kept.append(operator)
            continue
        for index in map(int, operator.outputs):
            sizes.add(index)
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(found[index].tobytes(), np.uint8)
            graph.tensors[index].buffer = len(tree.buffers)
            tree.buffers.append(buffer)
    graph.operators = kept


def _is_constant(tree: schema.ModelT, tensor: schema.TensorT) -> bool:
    data = tree.buffers[tensor.buffer].data if 0 < tensor.buffer < len(tree.buffers) else None
    return data is not None and len(data) > 0


def _computed(data: bytes, shapes: Mapping[int, tuple[int, ...]]) -> dict[int, np.ndarray]:
    """Return the values of all tensors by their number, for inputs of zeros."""
    interpreter = Interpreter(
        model_content=data,
        experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
        experimental_preserve_all_tensors=True,
        num_threads=1,
    )
    ports = interpreter.get_input_details()
    for port in ports:
        interpreter.resize_tensor_input(port["index"], shapes[port["index"]])
    interpreter.allocate_tensors()
    for port in ports:
        interpreter.set_tensor(port["index"], np.zeros(shapes[port["index"]], port["dtype"]))
    interpreter.invoke()
    return dict(_tensors(interpreter))


def _tensors(interpreter: Interpreter) -> Iterator[tuple[int, np.ndarray]]:
    for detail in interpreter.get_tensor_details():
        # A tensor that no operator makes has no values.
        try:
            yield int(detail["index"]), interpreter.get_tensor(detail["index"])
        except ValueError:
            continue
