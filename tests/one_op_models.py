"""Writer of .tflite models of one operator.

Each function returns the bytes of a model that the reference interpreter loads. Tensors are int8
(or as documented), NHWC, batch 1 unless a shape differs. Tensor 0 is the model's input, the last
one its output.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from numpy.typing import NDArray

Shape = tuple[int, ...]
Type = type[np.generic]
TYPES: dict[Type, int] = {
    np.int8: schema.TensorType.INT8,
    np.uint8: schema.TensorType.UINT8,
    np.int16: schema.TensorType.INT16,
    np.int32: schema.TensorType.INT32,
    np.int64: schema.TensorType.INT64,
    np.float32: schema.TensorType.FLOAT32,
    np.bool_: schema.TensorType.BOOL,
}
# Members of options that are given by the name of their value.
_NAMED = {"padding": schema.Padding, "fusedActivationFunction": schema.ActivationFunctionType}


@dataclass(frozen=True)
class Quantisation:
    """A quantisation: real = scale * (integer - zero_point)."""

    scale: float | Sequence[float]
    zero_point: int = 0  # This is 0 if there are several scales.
    axis: int = 0  # Several scales belong to the indices of this dimension.

    @property
    def per_tensor(self) -> float:
        assert isinstance(self.scale, float)
        return self.scale


@dataclass(frozen=True)
class Tensor:
    """A tensor of a model, without quantisation if it holds floats or indices."""

    name: str
    shape: Shape
    dtype: Type
    quantisation: Quantisation | None = None
    data: NDArray[np.generic] | None = None  # None for an activation.


def tree_of(model: bytes) -> Any:
    """Return the object tree of a model (schema.ModelT)."""
    return schema.ModelT.InitFromObj(schema.Model.GetRootAs(model, 0))


def packed(tree: Any) -> bytes:
    """Return the model of an object tree."""
    builder = flatbuffers.Builder(1024)
    builder.Finish(tree.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def quantisation_table(scales: Sequence[float], zero_point: int = 0, axis: int = 0) -> Any:
    table = schema.QuantizationParametersT()
    table.scale = [float(np.float32(scale)) for scale in scales]
    table.zeroPoint = [zero_point] * len(scales)
    table.quantizedDimension = axis
    return table


def buffer_of(tree: Any, data: NDArray[np.generic]) -> int:
    """Add a buffer to a model, and return its index."""
    buffer = schema.BufferT()
    buffer.data = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)
    tree.buffers.append(buffer)
    return len(tree.buffers) - 1


def halve(tree: Any, index: int) -> None:
    """Change weights to float16 constants that a DEQUANTIZE converts."""
    graph = tree.subgraphs[0]
    weights, half = graph.tensors[index], schema.TensorT()
    half.name, half.shape, half.type, half.buffer = b"half", weights.shape, schema.TensorType.FLOAT16, weights.buffer
    values = np.frombuffer(bytes(tree.buffers[weights.buffer].data), "<f4").astype("<f2")
    tree.buffers[weights.buffer].data = np.frombuffer(values.tobytes(), np.uint8)
    weights.buffer = 0
    graph.tensors.append(half)
    tree.operatorCodes.append(code_of("DEQUANTIZE", 1))
    widen = operator_of(len(tree.operatorCodes) - 1, [len(graph.tensors) - 1], [index])
    graph.operators = [widen, *graph.operators]


def code_of(name: str, version: int) -> Any:
    code = schema.OperatorCodeT()
    code.builtinCode = getattr(schema.BuiltinOperator, name)
    code.deprecatedBuiltinCode, code.version = min(code.builtinCode, 127), version
    return code


def operator_of(code: int, inputs: Sequence[int], outputs: Sequence[int], table: str = "", **options: Any) -> Any:
    """Return an operator of a model.

    Args:
        code: Index of its code.
        table: Its table of options in the schema's BuiltinOptions, without `Options`; "" for none.
        options: Members of that table. Paddings and activations are given by their names.
    """
    operator = schema.OperatorT()
    operator.opcodeIndex, operator.inputs, operator.outputs = code, [*inputs], [*outputs]
    if table:
        operator.builtinOptionsType = getattr(schema.BuiltinOptions, f"{table}Options")
        operator.builtinOptions = getattr(schema, f"{table}OptionsT")()
        for member, value in options.items():
            assert hasattr(operator.builtinOptions, member), member
            known = getattr(_NAMED[member], value) if member in _NAMED and isinstance(value, str) else value
            setattr(operator.builtinOptions, member, known)
    return operator


def model_of(tensors: Sequence[Tensor]) -> Any:
    """Return the tree of a model that has these tensors and no operators."""
    model = schema.ModelT()
    model.version = 3
    model.operatorCodes, model.buffers = [], [schema.BufferT()]
    graph = schema.SubGraphT()
    graph.name, graph.tensors, graph.operators = "main", [], []
    model.subgraphs = [graph]
    graph.tensors = [tensor_of(model, tensor) for tensor in tensors]
    return model


def tensor_of(tree: Any, tensor: Tensor) -> Any:
    """Return a tensor for a model, which gets its data."""
    entry = schema.TensorT()
    entry.name, entry.shape, entry.type = tensor.name, list(tensor.shape), TYPES[np.dtype(tensor.dtype).type]
    if (given := tensor.quantisation) is not None:
        scales = [given.scale] if isinstance(given.scale, int | float) else given.scale
        entry.quantization = quantisation_table(scales, given.zero_point, given.axis)
    entry.buffer = 0 if tensor.data is None else buffer_of(tree, tensor.data.astype(tensor.dtype))
    return entry


def write_model(
    name: str,
    tensors: Sequence[Tensor],
    table: str = "",
    version: int = 1,
    *,
    model_input: int = 0,
    outputs: int = 1,
    **options: Any,
) -> bytes:
    """Return a model of one operator; tensors are its inputs, then its outputs.

    Args:
        name: Name in the schema's BuiltinOperator.
        table: As in operator_of.
        options: As in operator_of.
    """
    model, ends = model_of(tensors), len(tensors) - outputs
    model.description = "one operator"
    (graph,) = model.subgraphs
    model.operatorCodes.append(code_of(name, version))
    graph.operators.append(operator_of(0, range(ends), range(ends, len(tensors)), table, **options))
    graph.inputs = [index for index in range(ends) if tensors[index].data is None] or [model_input]
    graph.outputs = [*range(ends, len(tensors))]
    return packed(model)


def window_output(size: int, window: int, stride: int, dilation: int, padding: str) -> tuple[int, int]:
    """Return output size and leading padding of a dimension, for SAME or VALID."""
    extent = (window - 1) * dilation + 1
    if padding == "VALID":
        return (size - extent) // stride + 1, 0
    output = -(-size // stride)
    return output, max(0, (output - 1) * stride + extent - size) // 2


def _bias(bias: NDArray[np.generic], given: Quantisation, weight_scales: Sequence[float]) -> Tensor:
    scales = [float(np.float32(given.per_tensor) * np.float32(scale)) for scale in weight_scales]
    return Tensor("bias", bias.shape, bias.dtype.type, Quantisation(scales), bias)


def convolution(
    kind: str,
    shape: tuple[int, int, int],
    weights: NDArray[np.int8],
    bias: NDArray[np.int32] | NDArray[np.int64] | None,
    weight_scales: Sequence[float],
    given: Quantisation,
    made: Quantisation,
    stride: tuple[int, int] = (1, 1),
    dilation: tuple[int, int] = (1, 1),
    padding: str = "SAME",
    activation: str = "NONE",
    dtype: Type = np.int8,
) -> bytes:
    """Return a model of a convolution, with one scale per output channel or one.

    Args:
        kind: CONV_2D, with weights [output channel][height][width][input channel], or
            DEPTHWISE_CONV_2D, with weights [1][height][width][output channel].
        dtype: Type of the activations: int8, or int16 with an int64 bias.
    """
    deep = kind == "DEPTHWISE_CONV_2D"
    axis = 3 if deep else 0
    sizes = [window_output(shape[i], weights.shape[1 + i], stride[i], dilation[i], padding)[0] for i in (0, 1)]
    tensors = [
        Tensor("input", (1, *shape), dtype, given),
        Tensor("weights", weights.shape, np.int8, Quantisation(weight_scales, 0, axis), weights),
        *([_bias(bias, given, weight_scales)] if bias is not None else []),
        Tensor("output", (1, *sizes, weights.shape[axis]), dtype, made),
    ]
    options: dict[str, Any] = {"depthMultiplier": weights.shape[3] // shape[2]} if deep else {}
    return write_model(
        kind,
        tensors,
        "DepthwiseConv2D" if deep else "Conv2D",
        3 if dtype is np.int8 else 5 if deep else 4,
        padding=padding,
        strideH=stride[0],
        strideW=stride[1],
        dilationHFactor=dilation[0],
        dilationWFactor=dilation[1],
        fusedActivationFunction=activation,
        **options,
    )


conv_2d = partial(convolution, "CONV_2D")
depthwise_conv_2d = partial(convolution, "DEPTHWISE_CONV_2D")


def fully_connected(
    rows: int,
    weights: NDArray[np.int8],
    bias: NDArray[np.int32] | NDArray[np.int64],
    weight_scales: Sequence[float],
    given: Quantisation,
    made: Quantisation,
    activation: str = "NONE",
    dtype: Type = np.int8,
) -> bytes:
    """Return a model of a fully connected layer, with one scale per output or one.

    Weights are [output][input], and the input is [rows][input].
    """
    tensors = [
        Tensor("input", (rows, weights.shape[1]), dtype, given),
        Tensor("weights", weights.shape, np.int8, Quantisation(weight_scales), weights),
        _bias(bias, given, weight_scales),
        Tensor("output", (rows, weights.shape[0]), dtype, made),
    ]
    version = 4 if dtype is np.int8 else 9
    return write_model("FULLY_CONNECTED", tensors, "FullyConnected", version, fusedActivationFunction=activation)


def add(
    shape_a: Shape, shape_b: Shape, a: Quantisation, b: Quantisation, output: Quantisation, activation: str = "NONE"
) -> bytes:
    """Return a model of an addition of two inputs whose shapes broadcast."""
    tensors = [
        Tensor("a", shape_a, np.int8, a),
        Tensor("b", shape_b, np.int8, b),
        Tensor("output", np.broadcast_shapes(shape_a, shape_b), np.int8, output),
    ]
    return write_model("ADD", tensors, "Add", 2, fusedActivationFunction=activation)


def pool_2d(
    kind: str,
    shape: tuple[int, int, int],
    window: tuple[int, int],
    stride: tuple[int, int],
    quantisation: Quantisation,
    padding: str = "SAME",
    activation: str = "NONE",
    dtype: Type = np.int8,
) -> bytes:
    """Return a model of a pooling of the kind MAX or AVERAGE."""
    sizes = [window_output(shape[i], window[i], stride[i], 1, padding)[0] for i in (0, 1)]
    return write_model(
        f"{kind}_POOL_2D",
        [
            Tensor("input", (1, *shape), dtype, quantisation),
            Tensor("output", (1, *sizes, shape[2]), dtype, quantisation),
        ],
        "Pool2D",
        2 if dtype is np.int8 else 3,
        padding=padding,
        strideH=stride[0],
        strideW=stride[1],
        filterHeight=window[0],
        filterWidth=window[1],
        fusedActivationFunction=activation,
    )


def reduced_shape(shape: Sequence[int], axes: Sequence[int], keep_dims: bool) -> Shape:
    named = {axis % len(shape) for axis in axes}
    if keep_dims:
        return tuple(1 if axis in named else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in named)


def reduction(
    kind: str, shape: Shape, axes: Sequence[int], given: Quantisation, made: Quantisation, keep_dims: bool = True
) -> bytes:
    """Return a model of a reduction.

    Args:
        kind: MEAN, SUM, REDUCE_MAX or REDUCE_MIN.
    """
    tensors = [
        Tensor("input", shape, np.int8, given),
        Tensor("axes", (len(axes),), np.int32, None, np.array(axes, np.int32)),
        Tensor("output", reduced_shape(shape, axes, keep_dims), np.int8, made),
    ]
    return write_model(kind, tensors, "Reducer", 2, keepDims=keep_dims)


def mean(
    shape: tuple[int, int, int],
    given: Quantisation,
    made: Quantisation,
    keep_dims: bool = True,
    axes: Sequence[int] = (1, 2),
) -> bytes:
    """Return a model of a mean over height and width, however `axes` names them."""
    return reduction("MEAN", (1, *shape), axes, given, made, keep_dims)


def pad(
    shape: Shape, paddings: Sequence[tuple[int, int]], quantisation: Quantisation, value: int | None = None
) -> bytes:
    """Return a model of a padding.

    Args:
        paddings: (before, after) of each dimension.
        value: None for PAD (the zero point), or the integer of PADV2.
    """
    tensors = [
        Tensor("input", shape, np.int8, quantisation),
        Tensor("paddings", (len(paddings), 2), np.int32, None, np.array(paddings, np.int32)),
    ]
    if value is not None:
        tensors.append(Tensor("value", (1,), np.int8, quantisation, np.array([value], np.int8)))
    made = tuple(size + sum(both) for size, both in zip(shape, paddings, strict=True))
    tensors.append(Tensor("output", made, np.int8, quantisation))
    return write_model("PAD" if value is None else "PADV2", tensors, "Pad" if value is None else "PadV2", 2)


def softmax(
    rows: int, depth: int, scale: float, zero_point: int = 0, beta: float = 1.0, dtype: Type = np.int8
) -> bytes:
    made = Quantisation(1 / 256, -128) if dtype is np.int8 else Quantisation(1 / 32768)
    tensors = [
        Tensor("input", (rows, depth), dtype, Quantisation(scale, zero_point)),
        Tensor("output", (rows, depth), dtype, made),
    ]
    return write_model("SOFTMAX", tensors, "Softmax", 2 if dtype is np.int8 else 3, beta=beta)


def quantize(shape: Shape, source: Type, target: Type, given: Quantisation | None, made: Quantisation | None) -> bytes:
    """Return a model of a QUANTIZE, or of a DEQUANTIZE if the target is float32."""
    kind = "Dequantize" if target is np.float32 else "Quantize"
    tensors = [Tensor("input", shape, source, given), Tensor("output", shape, target, made)]
    return write_model(kind.upper(), tensors, kind, 3 if np.int16 in (source, target) else 2)


def dequantize(shape: Shape, source: Type, quantisation: Quantisation) -> bytes:
    return quantize(shape, source, np.float32, quantisation, None)


def reshape(shape: Shape, made: Shape, quantisation: Quantisation) -> bytes:
    tensors = [
        Tensor("input", shape, np.int8, quantisation),
        Tensor("shape", (len(made),), np.int32, None, np.array(made, np.int32)),
        Tensor("output", made, np.int8, quantisation),
    ]
    return write_model("RESHAPE", tensors, "Reshape", newShape=list(made))
