"""Reads a .tflite file into an integer graph.

The file comes from outside: every count is bounded before it is used, and any failure of the flatbuffer library is one
N6Error. What its options mean is in the operator's own module, what an operator needs in graph_checks.
"""

from __future__ import annotations

import math
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import tflite
from numpy.typing import NDArray

from n6build.base.errors import N6Error
from n6build.base.files import read_bytes
from n6build.network.reference.graph import DType, Graph, Operator, Quantisation, Tensor
from n6build.network.reference.kinds import TFLITE_KINDS
from n6build.network.reference.options import DamagedError, OptionsReader, UnsupportedError, names_in

IDENTIFIER = b"TFL3"
SCHEMA_VERSION = 3
MAX_OPERATORS = 10_000
MAX_OPERANDS = 64
MAX_RANK = 6
MAX_NAME = 256

_BROKEN = (struct.error, ValueError, IndexError, TypeError, OverflowError, AttributeError, KeyError, MemoryError)
_NUMPY_TYPES: dict[DType, str] = {
    "int8": "<i1",
    "uint8": "<u1",
    "int16": "<i2",
    "int32": "<i4",
    "int64": "<i8",
    "float32": "<f4",
    "bool": "?",
}


_OPERATOR_NAMES = names_in(tflite.BuiltinOperator)
_TYPE_NAMES = {code: name.lower() for code, name in names_in(tflite.TensorType).items()}


def read_graph(path: Path) -> Graph:
    """Raises N6-FILE-002, N6-NET-001 (not a .tflite file), N6-NET-002 (damaged), N6-NET-003 (operator), N6-NET-004 (type),
    N6-NET-005 (shape), N6-NET-008 (options)."""
    data = read_bytes(path)
    if len(data) < 8 or data[4:8] != IDENTIFIER:
        raise N6Error(
            "N6-NET-001",
            "is not a .tflite file: the identifier TFL3 is missing",
            where=path.name,
            hint="give a TensorFlow Lite flatbuffer",
        )
    try:
        return _Reader(data, path.name).graph()
    except DamagedError as error:
        raise _damaged(path.name, str(error)) from error
    except UnsupportedError as error:
        what, hint = error.args
        raise N6Error("N6-NET-008", what, where=path.name, hint=hint) from error
    except _BROKEN as error:
        raise _damaged(path.name, f"the flatbuffer points outside the file ({type(error).__name__})") from error


def _damaged(where: str, why: str) -> N6Error:
    return N6Error(
        "N6-NET-002", f"is damaged or cut off: {why}", where=where, hint="export or copy the model file again"
    )


def _bounded(count: int, limit: int, what: str) -> int:
    if not 0 <= count <= limit:
        raise DamagedError(f"{count} {what}, at most {limit} are possible")
    return count


class _Reader:
    """One pass over one file; holds the file's tables while they are read."""

    def __init__(self, data: bytes, file: str) -> None:
        self._file = file
        self._bytes = len(data)
        self._model = tflite.Model.GetRootAs(data, 0)
        if self._model.Version() != SCHEMA_VERSION:
            raise DamagedError(f"schema version {self._model.Version()} instead of {SCHEMA_VERSION}")
        subgraphs = _bounded(self._model.SubgraphsLength(), self._bytes // 4, "subgraphs")
        if subgraphs != 1:
            raise N6Error(
                "N6-NET-008",
                f"has {subgraphs} subgraphs; one is supported",
                where=file,
                hint="convert one signature without control flow",
            )
        self._subgraph = self._model.Subgraphs(0)
        if self._subgraph is None:
            raise DamagedError("the subgraph is empty")
        self._tensor_count = _bounded(self._subgraph.TensorsLength(), self._bytes // 4, "tensors")
        self._tensors: dict[int, Tensor] = {}

    def graph(self) -> Graph:
        count = _bounded(self._subgraph.OperatorsLength(), min(MAX_OPERATORS, self._bytes // 4), "operators")
        tables = [self._subgraph.Operators(index) for index in range(count)]
        kinds = [self._kind(index, table) for index, table in enumerate(tables)]
        self._check_kinds(kinds)
        operators = tuple(
            operator
            for index, (kind, table) in enumerate(zip(kinds, tables, strict=True))
            for operator in self._outputs_of(index, kind, table)
        )
        inputs = self._graph_tensors("Inputs")
        outputs = self._graph_tensors("Outputs")
        graph = Graph(dict(sorted(self._tensors.items())), operators, inputs, outputs)
        _check_flow(graph)
        return graph

    def _kind(self, index: int, table: Any) -> str:
        codes = _bounded(self._model.OperatorCodesLength(), self._bytes // 4, "operator codes")
        if table is None or not 0 <= table.OpcodeIndex() < codes:
            raise DamagedError(f"operator {index} has no operator code")
        code = self._model.OperatorCodes(table.OpcodeIndex())
        # Older files hold the code in a byte, newer ones in an int32; the larger one counts.
        number = max(code.BuiltinCode(), code.DeprecatedBuiltinCode())
        name = _OPERATOR_NAMES.get(number, f"number {number}")
        if name == "CUSTOM":
            custom = code.CustomCode() or b""
            return f"CUSTOM {custom[:MAX_NAME].decode('utf-8', 'replace')!a}"
        return name

    def _check_kinds(self, kinds: list[str]) -> None:
        unknown = [(index, kind) for index, kind in enumerate(kinds) if kind not in TFLITE_KINDS]
        if not unknown:
            return
        index, kind = unknown[0]
        table = self._subgraph.Operators(index)
        result = ""
        if table.OutputsLength() > 0 and 0 <= table.Outputs(0) < self._tensor_count:
            tensor = self._subgraph.Tensors(table.Outputs(0))
            result = f" (makes tensor {_shown(tensor.Name())}, {_TYPE_NAMES.get(tensor.Type(), '?')})"
        others = sorted({other for _, other in unknown[1:]} - {kind})
        more = f"; nor are {', '.join(others)}" if others else ""
        raise N6Error(
            "N6-NET-003",
            f"operator {index} ({kind}){result} is not supported{more}",
            where=self._file,
            hint=f"supported: {', '.join(TFLITE_KINDS)}",
        )

    def _outputs_of(self, index: int, kind: str, table: Any) -> list[Operator]:
        """The operator, once for each of its outputs."""
        label = f"operator {index} ({kind})"
        inputs = _bounded(table.InputsLength(), MAX_OPERANDS, f"inputs of {label}")
        outputs = _bounded(table.OutputsLength(), MAX_OPERANDS, f"outputs of {label}")
        if outputs < 1 or (outputs > 1 and not TFLITE_KINDS[kind].several_outputs):
            raise DamagedError(f"{label} has {outputs} outputs instead of one")
        try:
            first = Operator(
                index=index,
                kind=kind,
                inputs=tuple(self._operand(int(table.Inputs(i)), label) for i in range(inputs)),
                output=self._required(int(table.Outputs(0)), label),
                options=_options(table, TFLITE_KINDS[kind].options),
            )
            rest = (self._required(int(table.Outputs(part)), label) for part in range(1, outputs))
            return [first, *(replace(first, output=made, part=part) for part, made in enumerate(rest, 1))]
        except UnsupportedError as error:
            what, hint = error.args
            raise N6Error("N6-NET-008", f"{label}: {what}", where=self._file, hint=hint) from error

    def _operand(self, index: int, user: str) -> int | None:
        return None if index == -1 else self._required(index, user)

    def _required(self, index: int, user: str) -> int:
        if not 0 <= index < self._tensor_count:
            raise DamagedError(f"{user} names tensor {index} of {self._tensor_count}")
        if index not in self._tensors:
            self._tensors[index] = self._tensor(index, user)
        return index

    def _graph_tensors(self, which: str) -> tuple[int, ...]:
        count = _bounded(getattr(self._subgraph, f"{which}Length")(), self._tensor_count, which.lower())
        user = f"the model's {which.lower()}"
        if count == 0:
            raise DamagedError(f"{user} are missing")
        indices = tuple(self._required(int(getattr(self._subgraph, which)(i)), user) for i in range(count))
        if len(set(indices)) != count:
            raise DamagedError(f"{user} name a tensor twice")
        return indices

    def _tensor(self, index: int, user: str) -> Tensor:
        table = self._subgraph.Tensors(index)
        name = _name(table.Name())
        if table.IsVariable() or table.Sparsity() is not None:
            raise UnsupportedError(f"tensor {name!a} is a variable or sparse", "use a stateless, dense model")
        dtype = self._dtype(table, name, user)
        tensor = Tensor(
            index=index,
            name=name,
            dtype=dtype,
            shape=self._shape(table, name, user),
            quantisation=None if dtype == "float32" else _quantisation(table.Quantization(), name),
        )
        return replace(tensor, data=self._constant(table, tensor))

    def _dtype(self, table: Any, name: str, user: str) -> DType:
        found: Any = _TYPE_NAMES.get(table.Type(), f"type {table.Type()}")
        if found not in get_args(DType):
            raise N6Error(
                "N6-NET-004",
                f"{user}: tensor {name!a} is {found}; this backend computes int8",
                where=self._file,
                hint="quantise the model to int8 (full integer, with a representative data set)",
            )
        return found  # type: ignore[no-any-return]

    def _shape(self, table: Any, name: str, user: str) -> tuple[int, ...]:
        rank = _bounded(table.ShapeLength(), MAX_RANK, f"dimensions of tensor {name!a}")
        shape = tuple(int(table.Shape(i)) for i in range(rank))
        signature_rank = _bounded(table.ShapeSignatureLength(), MAX_RANK, f"dimensions of tensor {name!a}")
        signature = [int(table.ShapeSignature(i)) for i in range(signature_rank)]
        # A batch that was left open is 1 in the shape; anything else left open cannot be planned.
        if any(size < 1 for size in shape) or any(size < 0 for size in signature[1:]):
            shown = signature if signature else list(shape)
            raise N6Error(
                "N6-NET-005",
                f"{user}: the shape of tensor {name!a} is not fixed: {shown}",
                where=self._file,
                hint="convert the model with fixed input shapes and batch 1",
            )
        if math.prod(shape) >= 1 << 31:
            raise DamagedError(f"tensor {name!a} has the shape {list(shape)}")
        return shape

    def _constant(self, table: Any, tensor: Tensor) -> NDArray[np.generic] | None:
        buffers = _bounded(self._model.BuffersLength(), self._bytes // 4, "buffers")
        number = table.Buffer()
        if number == 0:
            return None
        if number >= buffers:
            raise DamagedError(f"tensor {tensor.name!a} names buffer {number} of {buffers}")
        buffer = self._model.Buffers(number)
        if buffer.Offset() > 1 or buffer.Size() > 1:
            raise UnsupportedError(
                f"tensor {tensor.name!a} has its data after the flatbuffer", "convert without external buffers"
            )
        length = _bounded(buffer.DataLength(), self._bytes, "bytes of data")
        if length == 0:
            return None
        if length != tensor.bytes:
            raise DamagedError(f"tensor {tensor.name!a} has {length} bytes of data instead of {tensor.bytes}")
        raw = np.asarray(buffer.DataAsNumpy()).tobytes()
        return np.frombuffer(raw, _NUMPY_TYPES[tensor.dtype]).reshape(tensor.shape)


def _options(table: Any, reader: OptionsReader | None) -> object:
    if reader is None:
        return None
    union = table.BuiltinOptions()
    if union is None or table.BuiltinOptionsType() != reader.code:
        raise DamagedError("an operator lacks its options")
    options = reader.table()
    options.Init(union.Bytes, union.Pos)
    return reader.read(options)


def _name(raw: bytes | None) -> str:
    return (raw or b"")[:MAX_NAME].decode("utf-8", "replace")


def _shown(raw: bytes | None) -> str:
    return ascii(_name(raw))


def _quantisation(table: Any, name: str) -> Quantisation | None:
    if table is None or table.ScaleLength() == 0:
        return None
    if table.ZeroPointLength() != table.ScaleLength():
        raise DamagedError(f"tensor {name!a} has {table.ScaleLength()} scales, {table.ZeroPointLength()} zero points")
    return Quantisation(
        scales=tuple(table.ScaleAsNumpy().tolist()),
        zero_points=tuple(table.ZeroPointAsNumpy().tolist()),
        axis=int(table.QuantizedDimension()),
    )


def _check_flow(graph: Graph) -> None:
    """Every tensor is made once, before it is used."""
    made = {index for index, tensor in graph.tensors.items() if tensor.data is not None} | set(graph.inputs)
    for operator in graph.operators:
        for index in operator.inputs:
            if index is not None and index not in made:
                raise DamagedError(f"{operator} uses tensor {index} before it is made")
        if operator.output in made:
            raise DamagedError(f"{operator} makes tensor {operator.output} a second time")
        made.add(operator.output)
    for index in graph.outputs:
        if index not in made or index in graph.inputs or graph.tensors[index].data is not None:
            raise DamagedError(f"no operator makes the model's output, tensor {index}")
    for index in graph.inputs:
        if graph.tensors[index].data is not None:
            raise DamagedError(f"the model's input, tensor {index}, is a constant")
