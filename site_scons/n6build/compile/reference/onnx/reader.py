"""Reading of an ONNX file into the graph that the kernels compute.

Every node is translated in the file's order. DequantizeLinear leaves an int8 tensor as it is. The
result of a node waits until a QuantizeLinear gives the scale for it. A refused node does not end
the reading: one error reports all of them.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from n6build.base.errors import N6Error
from n6build.base.members import members
from n6build.compile.reference.graph import DType, Graph
from n6build.compile.reference.onnx.building import TYPES, Building
from n6build.compile.reference.onnx.constants import folded
from n6build.compile.reference.onnx.model_file import (
    MAX_NAME,
    MAX_RANK,
    check_model,
    constants_of,
    described,
    is_foreign,
    read_model,
)
from n6build.compile.reference.onnx.node import Node, NodeFamily, Translate
from n6build.compile.reference.onnx.refused import Refused
from n6build.compile.reference.onnx.storage import as_in_the_model
from n6build.compile.reference.onnx.values import Constant, Held, Pending, Value

_BROKEN = (
    struct.error,
    ValueError,
    IndexError,
    TypeError,
    OverflowError,
    AttributeError,
    KeyError,
    AssertionError,
    ZeroDivisionError,
    MemoryError,
)
_TYPES: dict[str, DType] = {"float32": "float32", "int8": "int8", "uint8": "uint8"}
_MOST_ELEMENTS = 1 << 31


@dataclass(frozen=True)
class Translations:
    """Translations by type of the node.

    Attributes:
        quantised: Translations of quantised nodes.
        in_float32: Translations of nodes whose inputs or outputs are not quantised.
    """

    quantised: dict[str, Translate]
    in_float32: dict[str, Translate]

    @property
    def kinds(self) -> set[str]:
        """Return all types of nodes."""
        return {*self.quantised, *self.in_float32}


def translations() -> Translations:
    """Return the translations of all families of nodes."""
    families = members("n6build.compile.reference.onnx.nodes.*", "FAMILY", NodeFamily)
    return Translations(
        {kind: translate for family in families for kind, translate in family.translate.items()},
        {kind: translate for family in families for kind, translate in family.in_float32.items()},
    )


def read_onnx_graph(path: Path) -> Graph:
    """Return the graph of an ONNX file.

    Raises:
        N6Error: N6-FILE-002 if the file cannot be read; N6-FILE-006 if Git LFS has not downloaded
            it; N6-NET-001 if it is not an ONNX model; N6-NET-002 if it is damaged; N6-NET-003 if an
            operator is not supported; N6-NET-004 for its types; N6-NET-005 for its shapes;
            N6-NET-006 for its quantisation; N6-NET-007 for its operands; N6-NET-008 for its
            options.
    """
    model = read_model(path)
    known = translations()
    return _Reader(model, known, check_model(model, path.name), path.name).graph()


class _Reader:
    """A single pass over one graph."""

    def __init__(self, model: onnx.ModelProto, known: Translations, version: int, file: str) -> None:
        self._graph = model.graph
        self._known = known
        self._version = version
        self._file = file
        self._building = Building()
        self._values: dict[str, Value] = {}
        self._refused = Refused(model, self._building, file)

    def graph(self) -> Graph:
        for tensor in self._graph.initializer:
            self._values[tensor.name] = Constant(self._array(tensor, tensor.name))
        inputs = [self._input(port) for port in self._graph.input if port.name not in self._values]
        for place, proto in enumerate(self._graph.node):
            self._translate(place, proto)
        outputs = [held for port in self._graph.output if (held := self._output(port))]
        self._refused.raise_all(len(self._graph.node))
        indices = [held.tensor.index for held in outputs]
        if not outputs or not inputs or len(set(indices)) != len(indices):
            raise self._damaged("has no inputs, no outputs, or gives one tensor twice")
        return self._building.graph(inputs, outputs)

    def _damaged(self, what: str) -> N6Error:
        return N6Error("N6-NET-002", what, where=self._file, hint="export or copy the model file again")

    def _array(self, tensor: Any, name: str) -> np.ndarray:
        try:
            return np.asarray(onnx.numpy_helper.to_array(tensor))
        except _BROKEN as error:
            raise self._damaged(f"is damaged: tensor {name[:MAX_NAME]!a} does not match its declaration") from error

    def _input(self, port: Any) -> Held:
        name = port.name[:MAX_NAME]
        tensor = port.type.tensor_type
        try:
            found = str(onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type))
        except (KeyError, TypeError, ValueError):
            found = "without a type"
        if found not in _TYPES:
            what = f"input {name!a} is {found}; this backend reads float32, int8 or uint8"
            raise N6Error("N6-NET-004", what, where=self._file, hint="export the model with float32 inputs")
        shape = self._shape(name, tensor.shape.dim)
        order = as_in_the_model(len(shape))
        stored = self._building.tensor(name, _TYPES[found], shape, order=order)
        held = Held(stored, shape, order, unsigned=found == "uint8")
        self._values[port.name] = held
        return held

    def _shape(self, name: str, sizes: Any) -> tuple[int, ...]:
        """Return the shape of an input; an open batch becomes 1."""
        shape = [int(size.dim_value) if size.HasField("dim_value") else 0 for size in sizes]
        if shape and not sizes[0].HasField("dim_value"):
            shape[0] = 1
        if any(size < 1 for size in shape) or len(shape) > MAX_RANK or np.prod(shape, dtype=float) >= _MOST_ELEMENTS:
            shown = [size.dim_param[:MAX_NAME] or int(size.dim_value) for size in sizes]
            what = f"the shape of input {name!a} is not fixed: {shown}"
            hint = (
                "fix it with python -m onnxruntime.tools.make_dynamic_shape_fixed --input_name ... --input_shape "
                "1,3,224,224"
            )
            raise N6Error("N6-NET-005", what, where=self._file, hint=hint)
        return tuple(shape)

    def _translate(self, place: int, proto: Any) -> None:
        if proto.op_type == "Constant":
            self._keep_constant(proto)
            return
        names = [name for name in proto.output if name]
        constants = None if proto.op_type in self._known.quantised else self._folded(proto)
        if constants is not None:
            self._values.update(constants)
        elif is_foreign(proto) or proto.op_type not in self._known.kinds:
            output = (names or [""])[0][:MAX_NAME]
            what = f"node {place} ({described(proto)}), the producer of {output!a}, is not supported"
            hint = f"use one of: {', '.join(sorted({*self._known.kinds, 'Constant'}))}"
            self._refuse(place, described(proto), names, N6Error("N6-NET-003", what, where=self._file, hint=hint))
        else:
            self._translate_supported(place, proto, names)

    def _keep_constant(self, proto: Any) -> None:
        """Keep the value of a node of type Constant."""
        for value in constants_of(proto):
            array = self._array(value, proto.output[0]) if hasattr(value, "dims") else np.asarray(value)
            self._values[proto.output[0]] = Constant(array.astype(np.float32) if array.dtype == float else array)

    def _translate_supported(self, place: int, proto: Any, names: list[str]) -> None:
        """Keep the outputs of a node of a supported type.

        If the node is refused, their placeholders are kept.

        Args:
            place: Position of the node.
            proto: The node.
            names: Names of its outputs.
        """
        doubtful = any(self._refused.is_doubtful(name) for name in proto.input)
        if doubtful and any(name and name not in self._values for name in proto.input):
            self._stand_in(names)
            return
        try:
            made = self._made(self._node(place, proto), proto)
        except N6Error as error:
            if doubtful:
                self._stand_in(names)
            else:
                self._refuse(place, proto.op_type, names, error)
            return
        for name, value in zip(proto.output, made, strict=False):
            self._values[name] = value
            if doubtful and isinstance(value, Pending):
                self._refused.doubt([name])

    def _folded(self, proto: Any) -> dict[str, Value] | None:
        """Return the outputs of a node that only reads constants, or None."""
        given = [self._values.get(name) for name in proto.input if name]
        if is_foreign(proto) or not all(isinstance(value, Constant) and value.quantisation is None for value in given):
            return None
        arrays = {name: self._values[name].array for name in proto.input if name}  # type: ignore[union-attr]
        made = folded(proto, arrays, self._version)
        return None if made is None else {name: Constant(array) for name, array in made.items()}

    def _made(self, node: Node, proto: Any) -> Sequence[Value]:
        """Return the values of a node's outputs.

        A node that cannot be computed in integers becomes a constant or is computed in float32, if that is possible.
        If nothing is, the reason of the first is reported.
        """
        for name, value in zip(node.names, node.inputs, strict=True):
            if isinstance(value, Held) and value.rows_vary:
                what = f"reads {name[:MAX_NAME]!a}, of which the input decides the number of rows"
                hint = f"end the network at {name[:MAX_NAME]!a}, and compute the rest in the application"
                raise node.error("N6-NET-005", what, hint)
        quantised, in_float32 = (each.get(node.type) for each in (self._known.quantised, self._known.in_float32))
        if quantised is None:
            assert in_float32 is not None
            return self._translated(node, in_float32)
        try:
            made = self._translated(node, quantised)
        except N6Error:
            constants = self._folded(proto)
            if constants is not None:
                return list(constants.values())
            if in_float32 is None or any(self._refused.is_doubtful(name) for name in node.names):
                raise
            with contextlib.suppress(N6Error):
                return self._translated(node, in_float32)
            raise
        return [self._with_numbers(value, node, part, in_float32) for part, value in enumerate(made)]

    def _with_numbers(self, value: Value, node: Node, part: int, in_float32: Translate | None) -> Value:
        """Return a value that nodes without quantisation can read, too.

        Its numbers are computed once.
        """
        if not isinstance(value, Pending) or part >= len(node.outputs):
            return value
        make_real = value.make_real
        found: list[Held] = []

        def numbers(_: str) -> Held:
            if not found and make_real is not None:
                found.append(make_real(node.outputs[part]))
            elif not found:
                assert in_float32 is not None
                made = self._translated(node, in_float32)[part]
                assert isinstance(made, Held)
                found.append(made)
            return found[0]

        can_be_read = make_real is not None or in_float32 is not None
        return replace(value, make_real=numbers) if can_be_read else value

    def _translated(self, node: Node, translate: Translate) -> Sequence[Value]:
        try:
            made = translate(node, self._building)
        except _BROKEN as error:
            raise self._damaged(
                f"{node}: its inputs or attributes contradict each other ({type(error).__name__})"
            ) from error
        return [made] if isinstance(made, Constant | Held | Pending) else made

    def _refuse(self, place: int, kind: str, names: list[str], error: N6Error) -> None:
        self._refused.add(place, kind, error)
        self._stand_in(names)

    def _stand_in(self, names: list[str]) -> None:
        self._refused.doubt(names)
        for name in names:
            value = self._refused.stand_in(name)
            if value is not None:
                self._values[name] = value

    def _node(self, place: int, proto: Any) -> Node:
        missing = [name for name in proto.input if name and name not in self._values]
        label = f"node {place} ({proto.op_type[:MAX_NAME]})"
        if missing or not proto.output:
            raise self._damaged(f"{label} reads {(missing or ['nothing'])[0][:MAX_NAME]!a}, which no node produces")
        return Node(
            place=place,
            type=proto.op_type,
            name=(proto.name or proto.output[0])[:MAX_NAME],
            attributes={each.name: onnx.helper.get_attribute_value(each) for each in proto.attribute},
            inputs=tuple(self._values[name] if name else None for name in proto.input),
            names=tuple(proto.input),
            outputs=tuple(proto.output),
            where=self._file,
            version=self._version,
        )

    def _output(self, port: Any) -> Held | None:
        """Return an output, or None if it is refused or depends on a refused node."""
        name = port.name[:MAX_NAME]
        value = self._values.get(port.name)
        if self._refused.is_doubtful(port.name):
            return None
        if isinstance(value, Pending) and value.make_real:
            value = value.make_real(name)
        if isinstance(value, Constant) and value.array.dtype.name in TYPES:
            array = value.array if value.quantisation is None else value.numbers()
            value = Held(self._building.constant(name, array), value.shape, as_in_the_model(len(value.shape)))
        if isinstance(value, Held):
            return self._building.leaving(value, name)
        what = f"output {name!a} is not quantised, or a constant of another type"
        hint = "quantise the last operator, too: QuantizeLinear and DequantizeLinear after it"
        error = N6Error("N6-NET-004", what, where=self._file, hint=hint)
        self._refused.add(len(self._graph.node), "output", error)
        return None
