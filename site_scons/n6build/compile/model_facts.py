"""Facts of a model file, read before compilation: format, types and quantisation.

The model may have unknown operators.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from n6build.base.errors import N6Error
from n6build.base.files import read_at_most
from n6build.base.findings import Finding

MAX_BYTES = (2 << 30) - 1
MAX_ITEMS = 200_000
# Operators with weights are the work of the NPU.
_TFLITE_HEAVY = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV")
_ONNX_HEAVY = ("Conv", "ConvTranspose", "Gemm", "MatMul")
_ONNX_INTEGER = ("QLinearConv", "QLinearMatMul", "QGemm", "ConvInteger", "MatMulInteger")
# Offset of the int32 code in the table of an operator code.
_BUILTIN_CODE_SLOT = 10
BROKEN = (struct.error, ValueError, IndexError, TypeError, OverflowError, AttributeError, KeyError, MemoryError)


class OperatorCode(Protocol):
    """An entry of the operator codes, as package tflite reads it."""

    _tab: Any

    def DeprecatedBuiltinCode(self) -> int:
        """Return the field of old writers."""


@dataclass(frozen=True)
class TensorFacts:
    """An input or output of a model.

    Attributes:
        name: Name in the model.
        type: Type as NumPy names it.
        shape: Sizes of the axes, -1 for a size that is not fixed.
    """

    name: str
    type: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class ModelFacts:
    """Facts of a model file.

    Attributes:
        format: Format of the file.
        ir_version: IR version of ONNX, None for another format.
        inputs: Inputs of the model.
        outputs: Outputs of the model.
        quantised_operators: Number of quantised operators with weights.
        float_operators: Number of float operators with weights.
    """

    format: Literal["tflite", "onnx"]
    ir_version: int | None
    inputs: tuple[TensorFacts, ...]
    outputs: tuple[TensorFacts, ...]
    quantised_operators: int
    float_operators: int


# These checks also run before ST's compiler, which needs a long time to find the fault, or on the compiler's messages.
KEPT_QUANTISATION = "N6-CHECK-017"
FLOAT_MODEL = "N6-CHECK-016"
IR_VERSION = "N6-CHECK-020"
# The checker inside ST Edge AI Core 2.2 and older accepts IR versions up to this one.
MAX_IR_VERSION = 9


def float_model(facts: ModelFacts, where: str) -> Finding | None:
    """Return a finding if all operators with weights compute in float.

    The NPU cannot speed up such a model.

    Args:
        facts: Facts of the model.
        where: Place of the finding.
    """
    if facts.quantised_operators or not facts.float_operators:
        return None
    return Finding(
        where,
        f"all {facts.float_operators} operators with weights compute in float, but the NPU computes in integers",
        "quantise the model to int8 (post-training quantisation with representative data)",
    )


def unread_ir_version(facts: ModelFacts, core: str, where: str) -> Finding | None:
    """Return a finding if ST Edge AI Core does not read an ONNX model's IR version.

    Args:
        facts: Facts of the model.
        core: Release of ST Edge AI Core, such as 2.2.0-20266.
        where: Place of the finding.
    """
    if facts.ir_version is None or facts.ir_version <= MAX_IR_VERSION or not core.startswith(("2.0", "2.1", "2.2")):
        return None
    return Finding(
        where,
        f"the model has ONNX IR version {facts.ir_version}, but ST Edge AI Core up to 2.2 reads {MAX_IR_VERSION}",
        f"save the model with ir_version {MAX_IR_VERSION}, or use ST Edge AI Core 3.0 or newer",
    )


def read_model_facts(path: Path) -> ModelFacts:
    """Read the facts of a model file.

    Raises:
        N6Error: N6-FILE-002; N6-FILE-003 if the file is larger than 2 GiB; N6-MODEL-020 if the file
            does not have the format of its suffix.
    """
    data = read_at_most(path, MAX_BYTES)
    return onnx_facts(data, path) if path.suffix == ".onnx" else tflite_facts(data, path)


def _damaged(path: Path, why: str) -> N6Error:
    hint = "save or download the file again: it may be incomplete"
    return N6Error("N6-MODEL-020", f"is not a valid {path.suffix.lstrip('.')} model: {why}", where=path.name, hint=hint)


def tflite_facts(data: bytes, path: Path) -> ModelFacts:
    """Return the facts of a TFLite model.

    Args:
        data: Content of the file.
        path: Path of the file, for messages.

    Raises:
        N6Error: N6-MODEL-020 if the data is not such a model.
    """
    import tflite  # noqa: PLC0415 - loaded only when a model is read.

    types = {value: name.lower() for name, value in vars(tflite.TensorType).items() if isinstance(value, int)}
    operators = {value: name for name, value in vars(tflite.BuiltinOperator).items() if isinstance(value, int)}
    if data[4:8] != b"TFL3":
        raise _damaged(path, "its identifier is missing")
    try:
        model = tflite.Model.GetRootAs(data, 0)
        graph = model.Subgraphs(0)
        for count in (graph.TensorsLength(), graph.OperatorsLength(), model.OperatorCodesLength()):
            if count > MAX_ITEMS:
                raise ValueError(f"{count} items")

        def tensor(index: int) -> TensorFacts:
            found = graph.Tensors(index)
            shape = tuple(int(found.Shape(axis)) for axis in range(min(found.ShapeLength(), 16)))
            name = (found.Name() or b"").decode("utf-8", "replace")[:200]
            return TensorFacts(name, types.get(found.Type(), "unknown"), shape)

        heavy = [
            tensor(operator.Inputs(1)).type
            for operator in (graph.Operators(index) for index in range(graph.OperatorsLength()))
            if operators.get(builtin_code(model.OperatorCodes(operator.OpcodeIndex()))) in _TFLITE_HEAVY
        ]
        return ModelFacts(
            format="tflite",
            ir_version=None,
            inputs=tuple(tensor(graph.Inputs(index)) for index in range(min(graph.InputsLength(), 100))),
            outputs=tuple(tensor(graph.Outputs(index)) for index in range(min(graph.OutputsLength(), 100))),
            quantised_operators=sum(kind in ("int8", "uint8", "int4", "int16") for kind in heavy),
            float_operators=sum(kind in ("float32", "float16") for kind in heavy),
        )
    except BROKEN as error:
        raise _damaged(path, str(error)) from error


def builtin_code(operator_code: OperatorCode) -> int:
    """Return the code of an operator, the larger one of its two fields.

    Old writers fill a byte, new ones an int32 or both. Release 2.18 of package tflite does not read an int32 below 127.
    """
    table = operator_code._tab
    place = table.Offset(_BUILTIN_CODE_SLOT)
    number = struct.unpack_from("<i", table.Bytes, table.Pos + place)[0] if place else 0
    return max(int(number), int(operator_code.DeprecatedBuiltinCode()))


def onnx_facts(data: bytes, path: Path) -> ModelFacts:
    """Return the facts of an ONNX model.

    Quantised operators are integer operators and those whose weights come from a DequantizeLinear
    (QDQ).

    Args:
        data: Content of the file.
        path: Path of the file, for messages.

    Raises:
        N6Error: N6-MODEL-020 if the data is not such a model.
    """
    import google.protobuf.message  # noqa: PLC0415
    import onnx  # noqa: PLC0415

    try:
        model = onnx.load_model_from_string(data)
    except (google.protobuf.message.DecodeError, *BROKEN) as error:
        raise _damaged(path, str(error)) from error
    graph = model.graph
    if not graph.node or not model.ir_version:
        raise _damaged(path, "it has no graph")
    dequantised = {name for node in graph.node if node.op_type == "DequantizeLinear" for name in node.output}
    initializers = {tensor.name for tensor in graph.initializer}
    heavy = [node for node in graph.node if node.op_type in _ONNX_HEAVY and len(node.input) > 1]
    weighted = [node.input[1] for node in heavy if node.input[1] in dequantised | initializers]
    integer = sum(node.op_type in _ONNX_INTEGER for node in graph.node)
    quantised = sum(name in dequantised for name in weighted)
    return ModelFacts(
        format="onnx",
        ir_version=int(model.ir_version),
        inputs=tuple(_onnx_ports(each for each in graph.input if each.name not in initializers)),
        outputs=tuple(_onnx_ports(iter(graph.output))),
        quantised_operators=integer + quantised,
        float_operators=len(weighted) - quantised,
    )


def _onnx_ports(values: Iterator[Any]) -> Iterator[TensorFacts]:
    import onnx  # noqa: PLC0415

    for value in values:
        tensor = value.type.tensor_type
        try:
            kind = str(onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type))
        except (KeyError, TypeError, ValueError):
            kind = "unknown"
        shape = tuple(size.dim_value if size.HasField("dim_value") else -1 for size in tensor.shape.dim)
        yield TensorFacts(value.name[:200], kind, shape)
