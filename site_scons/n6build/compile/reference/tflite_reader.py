"""A reader that turns a .tflite file into an integer graph.

The file comes from outside. Every count is bounded before it is used, and any failure of the
flatbuffer library is one N6Error. The module of each operator interprets its options; graph_checks
has the requirements of operators.
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
from n6build.compile.model_facts import builtin_code
from n6build.compile.reference.graph import DType, Graph, Operator, Quantisation, Refusal, Signature, Tensor
from n6build.compile.reference.kinds import TFLITE_KINDS
from n6build.compile.reference.reference_options import DamagedError, UnsupportedError, names_in
from n6build.compile.reference.refusals import nearest_change
from n6build.compile.reference.rules import QUANTISE
from n6build.compile.reference.tflite_variables import CALL_ONCE, Call, Variables, called_once
from n6build.compile.reference.tflite_variables import KINDS as ABOUT_VARIABLES

IDENTIFIER = b"TFL3"
SCHEMA_VERSION = 3
MAX_OPERATORS = 10_000
MAX_RANK = 6
MAX_NAME = 256

# Errors of the flatbuffer library for offsets outside a file.
BROKEN = (struct.error, ValueError, IndexError, TypeError, OverflowError, AttributeError, KeyError, MemoryError)
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


class _TensorError(Exception):
    """An error for an unsupported tensor.

    Attributes:
        id: Id of the error, N6-NET-0xx.
        what: Text of the problem.
        hint: Change of the model that would help.
        dtype: Type that is in the way, as in `Refusal`.
    """

    def __init__(self, id: str, what: str, hint: str, dtype: str = "") -> None:
        super().__init__(what)
        self.id = id
        self.what = what
        self.hint = hint
        self.dtype = dtype


def read_graph(path: Path) -> Graph:
    """Read a .tflite file into an integer graph.

    Operators that are not supported, or whose tensors or options are not, are in `refused`.
    graph_checks reports them.

    Raises:
        N6Error: N6-FILE-002 if the file cannot be read; N6-FILE-006 if it is a pointer of Git LFS;
            N6-NET-001 if it is not a .tflite file; N6-NET-002 if it is damaged; N6-NET-004 for the
            type or N6-NET-005 for the shape of an input or output of the model that no operator
            uses; N6-NET-008 if it has several subgraphs for inferences, or a variable whose first
            value the firmware cannot set.
    """
    data = read_bytes(path)
    if len(data) < 8 or data[4:8] != IDENTIFIER:
        raise N6Error(
            "N6-NET-001",
            "is not a .tflite file: the identifier TFL3 is missing",
            where=path.name,
            hint="pass a TensorFlow Lite flatbuffer",
        )
    try:
        return _Reader(data, path.name, 0).graph()
    except DamagedError as error:
        raise damaged(path.name, str(error)) from error
    except _TensorError as error:
        raise N6Error(
            error.id, f"the model's inputs or outputs: {error.what}", where=path.name, hint=error.hint
        ) from error
    except BROKEN as error:
        raise damaged(path.name, f"the flatbuffer points outside the file ({type(error).__name__})") from error


def damaged(where: str, why: str) -> N6Error:
    """Return the error for a damaged file."""
    return N6Error(
        "N6-NET-002", f"is damaged or cut off: {why}", where=where, hint="export or copy the model file again"
    )


def _bounded(count: int, limit: int, what: str) -> int:
    if not 0 <= count <= limit:
        raise DamagedError(f"{count} {what}, more than {limit}")
    return count


class _Reader:
    """One pass over one subgraph of a file, with its tables."""

    def __init__(self, data: bytes, file: str, subgraph: int) -> None:
        self._data = data
        self._file = file
        self._bytes = len(data)
        self._model = tflite.Model.GetRootAs(data, 0)
        if self._model.Version() != SCHEMA_VERSION:
            raise DamagedError(f"schema version {self._model.Version()} instead of {SCHEMA_VERSION}")
        self._subgraphs = _bounded(self._model.SubgraphsLength(), self._bytes // 4, "subgraphs")
        if not 0 <= subgraph < self._subgraphs:
            raise DamagedError(f"there is no subgraph {subgraph} of {self._subgraphs}")
        self._subgraph = self._model.Subgraphs(subgraph)
        if self._subgraph is None:
            raise DamagedError("the subgraph is empty")
        self._tensor_count = _bounded(self._subgraph.TensorsLength(), self._bytes // 4, "tensors")
        self._tensors: dict[int, Tensor] = {}
        self._variables = Variables(self._tensor_count)
        self._called: set[int] = set()

    def graph(self) -> Graph:
        calls = self._calls()
        self._check_subgraphs(calls)
        operators: list[Operator] = []
        refused: list[Refusal] = []
        made: set[int] = set()
        for call in calls:
            read = self._operator(call)
            if isinstance(read, Refusal):
                refused.append(read)
                made.update(int(call.table.Outputs(part)) for part in range(call.table.OutputsLength()))
            else:
                operators += read
        for problem in () if refused else self._variables.problems():
            raise N6Error("N6-NET-008", problem, where=self._file, hint="convert the model with variables of zeros")
        inputs = self._graph_tensors("Inputs", bool(refused))
        outputs = self._graph_tensors("Outputs", bool(refused))
        tensors = dict(sorted(self._tensors.items())) | {each.index: each for each in self._variables.states.values()}
        graph = Graph(tensors, tuple(operators), inputs, outputs, tuple(refused), self._signature())
        _check_flow(graph, made)
        return graph

    def first_values(self) -> dict[str, Tensor]:
        """Return the first values of variables from a subgraph that is called once."""
        for call in self._calls():
            self._variables.read_first_value(call, lambda index: self._tensors[self._required(index, "a variable")])
        return self._variables.firsts

    def _calls(self) -> list[Call]:
        count = _bounded(self._subgraph.OperatorsLength(), min(MAX_OPERATORS, self._bytes // 4), "operators")
        tables = [self._subgraph.Operators(index) for index in range(count)]
        return [Call(index, self._kind(index, table), table) for index, table in enumerate(tables)]

    def _check_subgraphs(self, calls: list[Call]) -> None:
        """Refuse a subgraph that does more than to give variables their first values."""
        once = {called_once(call) for call in calls if call.kind == CALL_ONCE}
        if {*range(1, self._subgraphs)} - once:
            raise N6Error(
                "N6-NET-008",
                f"has {self._subgraphs} subgraphs; one is supported, besides those that initialise variables",
                where=self._file,
                hint="convert one signature without control flow",
            )

    def _kind(self, index: int, table: Any) -> str:
        codes = _bounded(self._model.OperatorCodesLength(), self._bytes // 4, "operator codes")
        if table is None or not 0 <= table.OpcodeIndex() < codes:
            raise DamagedError(f"operator {index} has no operator code")
        code = self._model.OperatorCodes(table.OpcodeIndex())
        number = builtin_code(code)
        name = _OPERATOR_NAMES.get(number, f"number {number}")
        if name == "CUSTOM":
            custom = code.CustomCode() or b""
            return f"CUSTOM {custom[:MAX_NAME].decode('utf-8', 'replace')!a}"
        return name

    def _operator(self, call: Call) -> list[Operator] | Refusal:
        """Return the operator, once for each of its outputs, or a refusal."""
        index, kind, table = call.index, call.kind, call.table
        label = f"operator {index} ({kind})"
        inputs = _bounded(table.InputsLength(), self._bytes // 4, f"inputs of {label}")
        outputs = _bounded(table.OutputsLength(), self._bytes // 4, f"outputs of {label}")
        intermediates = _bounded(table.IntermediatesLength(), self._bytes // 4, f"intermediates of {label}")
        try:
            if kind in ABOUT_VARIABLES:
                return self._about_variables(call, label)
            operands = tuple(self._operand(int(table.Inputs(i)), label) for i in range(inputs))
            made = [self._required(int(table.Outputs(part)), label) for part in range(outputs)]
            kind = self._of_type(kind, [*operands, *made])
            if kind not in TFLITE_KINDS:
                first = self._tensors[made[0]] if made else None
                result = f" (makes tensor {first.name!a}, {first.dtype})" if first else ""
                return Refusal(index, kind, "N6-NET-003", f"{label}{result} is not supported", nearest_change(kind))
            if outputs < 1 or (outputs > 1 and not TFLITE_KINDS[kind].several_outputs):
                raise DamagedError(f"{label} has {outputs} outputs instead of one")
            reader = TFLITE_KINDS[kind].options
            options = None if reader is None else reader.of(table)
            inside = tuple(self._intermediate(int(table.Intermediates(i)), label) for i in range(intermediates))
            return [Operator(index, kind, operands, output, options, part, inside) for part, output in enumerate(made)]
        except UnsupportedError as error:
            what, hint = error.args
            return Refusal(index, kind, "N6-NET-008", f"{label}: {what}", hint)
        except _TensorError as error:
            return Refusal(index, kind, error.id, f"{label}: {error.what}", error.hint, error.dtype)

    def _about_variables(self, call: Call, label: str) -> list[Operator]:
        if call.kind == CALL_ONCE:
            # A damaged file may call one subgraph thousands of times.
            if (subgraph := called_once(call)) not in self._called:
                self._called.add(subgraph)
                self._variables.firsts.update(_Reader(self._data, self._file, subgraph).first_values())
            return []
        return self._variables.operators(call, lambda index: self._tensors[self._required(index, label)])

    def _of_type(self, kind: str, tensors: list[int | None]) -> str:
        """Return the int16 kind for an operator with int16 activations, or `kind`."""
        wide = f"{kind} int16"
        # The first input of a TRANSPOSE_CONV is a shape.
        deciding = tensors if kind in ("QUANTIZE", "TRANSPOSE_CONV") else tensors[:1]
        is_wide = any(index is not None and self._tensors[index].dtype == "int16" for index in deciding)
        return wide if is_wide and wide in TFLITE_KINDS else kind

    def _operand(self, index: int, user: str) -> int | None:
        return None if index == -1 else self._required(index, user)

    def _intermediate(self, index: int, user: str) -> Quantisation | None:
        """Return the quantisation of a tensor of intermediate results.

        Nothing else of the tensor counts; converters give it any shape.
        """
        if index == -1:
            return None
        if not 0 <= index < self._tensor_count:
            raise DamagedError(f"{user} names tensor {index} of {self._tensor_count}")
        table = self._subgraph.Tensors(index)
        return _quantisation(table.Quantization(), _name(table.Name()))

    def _required(self, index: int, user: str) -> int:
        if not 0 <= index < self._tensor_count:
            raise DamagedError(f"{user} names tensor {index} of {self._tensor_count}")
        if index not in self._tensors:
            self._tensors[index] = self._tensor(index)
        return index

    def _graph_tensors(self, which: str, lenient: bool) -> tuple[int, ...]:
        """Return the indices of the model's inputs or outputs.

        `lenient` leaves out an unsupported tensor whose operator was refused.
        """
        count = _bounded(getattr(self._subgraph, f"{which}Length")(), self._tensor_count, which.lower())
        user = f"the model's {which.lower()}"
        if count == 0:
            raise DamagedError(f"{user} are missing")
        indices = []
        for position in range(count):
            try:
                indices.append(self._required(int(getattr(self._subgraph, which)(position)), user))
            except _TensorError:
                if not lenient:
                    raise
        if len(set(indices)) != len(indices):
            raise DamagedError(f"{user} name a tensor twice")
        return tuple(indices)

    def _signature(self) -> Signature | None:
        """Return the model's signature if it has exactly one, or None."""
        if self._model.SignatureDefsLength() != 1:
            return None
        table = self._model.SignatureDefs(0)
        inputs = _bounded(table.InputsLength(), self._bytes // 4, "inputs of the signature")
        return Signature(_name(table.SignatureKey()), tuple(_name(table.Inputs(i).Name()) for i in range(inputs)))

    def _tensor(self, index: int) -> Tensor:
        table = self._subgraph.Tensors(index)
        name = _name(table.Name())
        if table.Sparsity() is not None:
            what = f"tensor {name!a} is sparse"
            raise _TensorError("N6-NET-008", what, "use a dense model")
        dtype = self._dtype(table, name)
        tensor = Tensor(
            index=index,
            name=name,
            dtype=dtype,
            shape=self._shape(table, name),
            quantisation=None if dtype == "float32" else _quantisation(table.Quantization(), name),
            is_state=bool(table.IsVariable()),
        )
        data = self._constant(table, tensor)
        if tensor.is_state and data is not None:
            raise DamagedError(f"tensor {name!a} is a variable and a constant")
        return replace(tensor, data=data)

    def _dtype(self, table: Any, name: str) -> DType:
        found: Any = _TYPE_NAMES.get(table.Type(), f"type {table.Type()}")
        if found not in get_args(DType):
            raise _TensorError(
                "N6-NET-004", f"tensor {name!a} is {found}; this backend computes int8, uint8 or int16", QUANTISE, found
            )
        return found  # type: ignore[no-any-return]

    def _shape(self, table: Any, name: str) -> tuple[int, ...]:
        rank = _bounded(table.ShapeLength(), MAX_RANK, f"dimensions of tensor {name!a}")
        shape = tuple(int(table.Shape(i)) for i in range(rank))
        signature_rank = _bounded(table.ShapeSignatureLength(), MAX_RANK, f"dimensions of tensor {name!a}")
        signature = [int(table.ShapeSignature(i)) for i in range(signature_rank)]
        # An open batch is 1 in the shape. Any other open size cannot be planned.
        if any(size < 1 for size in shape) or any(size < 0 for size in signature[1:]):
            what = f"the shape of tensor {name!a} is not fixed: {signature if signature else list(shape)}"
            raise _TensorError("N6-NET-005", what, "convert the model with fixed input shapes and batch 1")
        if math.prod(shape) >= 1 << 31:
            what = f"tensor {name!a} has the shape {list(shape)}, {math.prod(shape)} elements; the limit is 2^31 - 1"
            raise _TensorError("N6-NET-005", what, "convert the model with a smaller input, or fewer channels")
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
            what = f"tensor {tensor.name!a} has its data after the flatbuffer"
            raise _TensorError("N6-NET-008", what, "convert the model to less than 2 GB, without external buffers")
        length = _bounded(buffer.DataLength(), self._bytes, "bytes of data")
        if length == 0:
            return None
        if length != tensor.bytes:
            raise DamagedError(f"tensor {tensor.name!a} has {length} bytes of data instead of {tensor.bytes}")
        # This is a view of the file's bytes, so that weights are not copied.
        return np.asarray(buffer.DataAsNumpy()).view(_NUMPY_TYPES[tensor.dtype]).reshape(tensor.shape)


def _name(raw: bytes | None) -> str:
    return (raw or b"")[:MAX_NAME].decode("utf-8", "replace")


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


def _check_flow(graph: Graph, made_by_refused: set[int]) -> None:
    """Check that every tensor is made once, before it is used."""
    made = {index for index, tensor in graph.tensors.items() if tensor.data is not None or tensor.is_state}
    made |= set(graph.inputs)
    made |= made_by_refused
    for operator in graph.operators:
        for index in operator.inputs:
            if index is not None and index not in made:
                raise DamagedError(f"{operator} uses tensor {index} before it is made")
        if operator.output in made and not graph.tensors[operator.output].is_state:
            raise DamagedError(f"{operator} makes tensor {operator.output} a second time")
        made.add(operator.output)
    for index in graph.outputs:
        tensor = graph.tensors[index]
        if index not in made or tensor.data is not None or tensor.is_state:
            raise DamagedError(f"no operator makes the model's output, tensor {index}")
    for index in graph.inputs:
        if graph.tensors[index].data is not None or graph.tensors[index].is_state:
            raise DamagedError(f"the model's input, tensor {index}, is a constant or a variable")
