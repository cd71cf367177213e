"""LiteRT with its reference kernels, which round as TFLite specifies."""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tflite
from numpy.typing import NDArray

from n6build.compile.model_facts import builtin_code
from n6build.judge.compare.limits import MAX_NAME, MAX_RANK, bounded, check_activations
from n6build.judge.compare.tensors import Port, ReferenceTensor, RefusedError, TensorPlan, first_line, kernel_mark

_TYPES = {
    tflite.TensorType.INT8: 1,
    tflite.TensorType.UINT8: 1,
    tflite.TensorType.INT16: 2,
    tflite.TensorType.INT32: 4,
    tflite.TensorType.INT64: 8,
    tflite.TensorType.FLOAT32: 4,
    tflite.TensorType.BOOL: 1,
}
# The message of an interpreter that lacks an operator. No operator has a version of three digits: a damaged one is not counted
# down.
_MISSING = re.compile(r"builtin opcode '(\w+)' version '(\d{1,2})'")
# Offset of the version in the table of an operator code, in the flatbuffer schema.
_VERSION_SLOT = 8
_OPERATORS = {code: name for name, code in vars(tflite.BuiltinOperator).items() if isinstance(code, int)}


class TfliteModel:
    """An interpreter of a model.

    Attributes:
        instead: Reason why LiteRT's optimised kernels run it in place of its reference kernels, or empty.
    """

    def __init__(self, data: bytes, *, all_tensors: bool) -> None:
        """Start an interpreter.

        Args:
            data: Bytes of the model.
            all_tensors: True to keep the tensors inside, too.

        Raises:
            RefusedError: If the model is not supported; the interpreter raises other errors.
        """
        from ai_edge_litert.interpreter import Interpreter, OpResolverType  # noqa: PLC0415 - only where one is made.

        self._plans = _plans(data)
        self.instead = ""

        def started(resolver: OpResolverType, content: bytes = data) -> Any:
            interpreter = Interpreter(
                model_content=content,
                experimental_op_resolver_type=resolver,
                experimental_preserve_all_tensors=all_tensors,
                num_threads=1,
            )
            interpreter.allocate_tensors()
            return interpreter

        try:
            self._interpreter = _with_versions(data, lambda content: started(OpResolverType.BUILTIN_REF, content))
        except (RuntimeError, ValueError) as error:
            # The reference kernels lack operators that the optimised ones have. A model that both refuse is refused for
            # the first reason.
            try:
                self._interpreter = started(OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
            except (RuntimeError, ValueError):
                raise error from None
            self.instead = first_line(error)

    def inputs(self) -> list[Port]:
        """Return the inputs in the model's order."""
        return [_port(each) for each in self._interpreter.get_input_details()]

    def output_ports(self) -> list[Port]:
        """Return the outputs' descriptions in the model's order."""
        return [_port(each) for each in self._interpreter.get_output_details()]

    def run(self, inputs: Sequence[NDArray[np.generic]]) -> None:
        """Run an inference on inputs in the model's types and shapes."""
        for detail, values in zip(self._interpreter.get_input_details(), inputs, strict=True):
            self._interpreter.set_tensor(detail["index"], values)
        self._interpreter.invoke()

    def outputs(self) -> list[NDArray[np.generic]]:
        """Return the outputs' values in the model's order."""
        return [self._interpreter.get_tensor(each["index"]) for each in self._interpreter.get_output_details()]

    def tensors(self) -> list[ReferenceTensor]:
        """Return the tensors in the order of execution, the inputs first."""
        return [
            plan.with_values(np.asarray(self._interpreter.get_tensor(plan.place)), channels_last=True)
            for plan in self._plans
        ]


def _with_versions(data: bytes, start: Callable[[bytes], Any]) -> Any:
    """Start an interpreter, with lower versions of operators if it lacks them.

    A version only says which types an operator takes. A kernel checks its types itself, so that one that takes the
    older version and starts computes the same.

    Raises:
        RuntimeError: The interpreter refuses the model; ValueError for an operator that it lacks in each version.
    """
    content = bytearray(data)
    while True:
        try:
            return start(bytes(content))
        except ValueError as error:
            missing = _MISSING.search(str(error))
            if missing is None or not _lower_version(content, missing[1], int(missing[2])):
                raise


def _lower_version(content: bytearray, name: str, version: int) -> bool:
    """Lower an operator's version in a model by one; return whether that was possible."""
    model = tflite.Model.GetRootAs(content, 0)
    lowered = False
    for number in range(bounded(model.OperatorCodesLength(), "operator codes")):
        code = model.OperatorCodes(number)
        place = code._tab.Offset(_VERSION_SLOT)
        if _OPERATORS.get(builtin_code(code)) == name and code.Version() == version > 1 and place:
            struct.pack_into("<i", content, code._tab.Pos + place, version - 1)
            lowered = True
    return lowered


def _port(detail: dict[str, Any]) -> Port:
    scale, zero_point = detail["quantization"]
    shape = tuple(map(int, detail["shape"]))
    # The interpreter returns a scale of 0 for a tensor without quantisation.
    return Port(detail["name"], np.dtype(detail["dtype"]).name, shape, float(scale) or 1.0, int(zero_point))


def _plans(data: bytes) -> list[TensorPlan]:
    """Return the quantised and the floating-point activations.

    Activations with a scale for each channel are left out.
    """
    if data[4:8] != b"TFL3":
        raise RefusedError("it is not a .tflite file: the identifier TFL3 is missing")
    model = tflite.Model.GetRootAs(data, 0)
    if bounded(model.SubgraphsLength(), "subgraphs") == 0:
        raise RefusedError("it has no subgraph")
    graph = model.Subgraphs(0)
    count = bounded(graph.TensorsLength(), "tensors")
    activations = {index: each for index in range(count) if not _is_constant(model, each := graph.Tensors(index))}
    check_activations((_shape(each), _TYPES.get(each.Type(), 8)) for each in activations.values())
    names = _names(activations)
    plans: dict[int, TensorPlan] = {}
    for operator, inputs, outputs in _operators(model, graph, count):
        for index in outputs:
            quantisation = _quantisation(activations[index]) if index in activations else None
            if quantisation is not None and index not in plans:
                made_from = tuple(names[each] for each in inputs if each in plans)
                kernel = _kernel(graph, inputs, activations)
                plans[index] = TensorPlan(names[index], operator, made_from, *quantisation, index, kernel=kernel)
    return list(plans.values())


def _kernel(graph: Any, inputs: Sequence[int], activations: Collection[int]) -> str:
    """Return the mark of an operator's weights, empty if it has none."""
    if len(inputs) < 2 or inputs[1] in activations:
        return ""
    table = graph.Tensors(inputs[1]).Quantization()
    return "" if table is None or table.ScaleLength() == 0 else kernel_mark(table.ScaleAsNumpy())


def _names(tensors: Mapping[int, Any]) -> dict[int, str]:
    """Return unique names: if several tensors have one name, their number is added."""
    names = {index: (each.Name() or b"")[:MAX_NAME].decode("utf-8", "replace") for index, each in tensors.items()}
    often = {name for name, count in Counter(names.values()).items() if count > 1}
    return {index: f"{name}#{index}" if name in often else name for index, name in names.items()}


def _operators(model: Any, graph: Any, count: int) -> Iterator[tuple[str, list[int], list[int]]]:
    """Yield name, inputs and outputs of each operator, the graph's inputs first.

    `count` is the number of tensors.
    """
    yield "input", [], [_index(graph.Inputs(i), count) for i in range(bounded(graph.InputsLength(), "inputs"))]
    codes = bounded(model.OperatorCodesLength(), "operator codes")
    for number in range(bounded(graph.OperatorsLength(), "operators")):
        operator = graph.Operators(number)
        if not 0 <= operator.OpcodeIndex() < codes:
            raise RefusedError(f"operator {number} has no operator code")
        code = model.OperatorCodes(operator.OpcodeIndex())
        name = _OPERATORS.get(builtin_code(code), "CUSTOM")
        inputs = [operator.Inputs(i) for i in range(bounded(operator.InputsLength(), "operands"))]
        outputs = [operator.Outputs(i) for i in range(bounded(operator.OutputsLength(), "operands"))]
        # A missing operand is -1.
        present = [_index(each, count) for each in inputs if each != -1]
        yield name, present, [_index(each, count) for each in outputs if each != -1]


def _index(value: int, count: int) -> int:
    if not 0 <= value < count:
        raise RefusedError(f"it names tensor {value} of {count}")
    return int(value)


def _is_constant(model: Any, tensor: Any) -> bool:
    number = tensor.Buffer()
    if not 0 < number < bounded(model.BuffersLength(), "buffers"):
        return False
    buffer = model.Buffers(number)
    return bool(buffer.DataLength() or buffer.Size() > 1)


def _shape(tensor: Any) -> list[int]:
    sizes = [int(tensor.Shape(axis)) for axis in range(bounded(tensor.ShapeLength(), "dimensions", MAX_RANK))]
    if any(size < 0 for size in sizes):
        raise RefusedError(f"a tensor has the shape {sizes}")
    return sizes


def _quantisation(tensor: Any) -> tuple[float, int] | None:
    """Return scale and zero point, None if there are several."""
    if tensor.Type() not in _TYPES:
        return None
    table = tensor.Quantization()
    if table is None or table.ScaleLength() == 0:
        return 1.0, 0
    if table.ScaleLength() != 1 or table.ZeroPointLength() > 1:
        return None
    return float(table.Scale(0)), int(table.ZeroPoint(0)) if table.ZeroPointLength() else 0
