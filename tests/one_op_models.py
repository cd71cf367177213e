"""Writer of .tflite models of one operator.

Each function returns the bytes of a model that the reference interpreter loads. Tensors are int8
(or as documented), NHWC, batch 1 unless a shape differs. Tensor 0 is the model's input, the last
one its output.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from numpy.typing import NDArray

_TYPES = {
    np.dtype(np.int8): schema.TensorType.INT8,
    np.dtype(np.uint8): schema.TensorType.UINT8,
    np.dtype(np.int16): schema.TensorType.INT16,
    np.dtype(np.int32): schema.TensorType.INT32,
    np.dtype(np.int64): schema.TensorType.INT64,
    np.dtype(np.bool_): schema.TensorType.BOOL,
    np.dtype(np.float32): schema.TensorType.FLOAT32,
}
_ACTIVATIONS = {
    "NONE": schema.ActivationFunctionType.NONE,
    "RELU": schema.ActivationFunctionType.RELU,
    "RELU6": schema.ActivationFunctionType.RELU6,
    "RELU_N1_TO_1": schema.ActivationFunctionType.RELU_N1_TO_1,
}


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
    shape: tuple[int, ...]
    dtype: type[np.generic]
    quantisation: Quantisation | None = None
    data: NDArray[np.generic] | None = None  # None for an activation.


def _quantisation_table(quantisation: Quantisation | None) -> schema.QuantizationParametersT | None:
    if quantisation is None:
        return None
    scales = [quantisation.scale] if isinstance(quantisation.scale, int | float) else list(quantisation.scale)
    table = schema.QuantizationParametersT()
    table.scale = [float(np.float32(scale)) for scale in scales]
    table.zeroPoint = [quantisation.zero_point] * len(scales)
    table.quantizedDimension = quantisation.axis
    return table


def write_model(
    opcode: int,
    tensors: Sequence[Tensor],
    options: object = None,
    options_type: int = 0,
    version: int = 1,
    model_input: int = 0,
    outputs: int = 1,
) -> bytes:
    """Return a model of one operator; tensors are its inputs, then its outputs."""
    model = schema.ModelT()
    model.version = 3
    model.description = "one operator"
    code = schema.OperatorCodeT()
    code.builtinCode = opcode
    code.deprecatedBuiltinCode = min(opcode, 127)
    code.version = version
    model.operatorCodes = [code]
    model.buffers = [schema.BufferT()]

    subgraph = schema.SubGraphT()
    subgraph.name = "main"
    subgraph.tensors = []
    for tensor in tensors:
        entry = schema.TensorT()
        entry.name = tensor.name
        entry.shape = list(tensor.shape)
        entry.type = _TYPES[np.dtype(tensor.dtype)]
        entry.quantization = _quantisation_table(tensor.quantisation)
        entry.buffer = 0
        if tensor.data is not None:
            entry.buffer = len(model.buffers)
            buffer = schema.BufferT()
            contents = np.ascontiguousarray(tensor.data, tensor.dtype).tobytes()
            buffer.data = np.frombuffer(contents, np.uint8)
            model.buffers.append(buffer)
        subgraph.tensors.append(entry)

    operator = schema.OperatorT()
    operator.opcodeIndex = 0
    operator.inputs = list(range(len(tensors) - outputs))
    operator.outputs = list(range(len(tensors) - outputs, len(tensors)))
    operator.builtinOptionsType = options_type
    operator.builtinOptions = options
    subgraph.operators = [operator]
    subgraph.inputs = [i for i in operator.inputs if tensors[i].data is None] or [model_input]
    subgraph.outputs = operator.outputs
    model.subgraphs = [subgraph]

    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def window_output(size: int, window: int, stride: int, dilation: int, padding: str) -> tuple[int, int]:
    """Return output size and leading padding of a dimension, for SAME or VALID."""
    extent = (window - 1) * dilation + 1
    if padding == "VALID":
        return (size - extent) // stride + 1, 0
    output = -(-size // stride)
    return output, max(0, (output - 1) * stride + extent - size) // 2


def _padding(name: str) -> int:
    return int({"SAME": schema.Padding.SAME, "VALID": schema.Padding.VALID}[name])


def _bias(bias: NDArray[np.int32], input_scale: float, weight_scales: Sequence[float]) -> Tensor:
    scales = [float(np.float32(input_scale) * np.float32(scale)) for scale in weight_scales]
    return Tensor("bias", bias.shape, np.int32, Quantisation(scales), bias)


def conv_2d(
    input_shape: tuple[int, int, int],
    weights: NDArray[np.int8],
    bias: NDArray[np.int32],
    weight_scales: Sequence[float],
    input_quantisation: Quantisation,
    output_quantisation: Quantisation,
    stride: tuple[int, int] = (1, 1),
    dilation: tuple[int, int] = (1, 1),
    padding: str = "SAME",
    activation: str = "NONE",
) -> bytes:
    """Return a model of a convolution, with one scale per output channel or one.

    Weights are [output channel][height][width][input channel].
    """
    height, width, _ = input_shape
    channels, window_h, window_w, _ = weights.shape
    options = schema.Conv2DOptionsT()
    options.padding = _padding(padding)
    options.strideH, options.strideW = stride
    options.dilationHFactor, options.dilationWFactor = dilation
    options.fusedActivationFunction = _ACTIVATIONS[activation]
    out_h, _ = window_output(height, window_h, stride[0], dilation[0], padding)
    out_w, _ = window_output(width, window_w, stride[1], dilation[1], padding)
    assert isinstance(input_quantisation.scale, float)
    tensors = [
        Tensor("input", (1, *input_shape), np.int8, input_quantisation),
        Tensor("weights", weights.shape, np.int8, Quantisation(weight_scales, 0, 0), weights),
        _bias(bias, input_quantisation.scale, weight_scales),
        Tensor("output", (1, out_h, out_w, channels), np.int8, output_quantisation),
    ]
    return write_model(schema.BuiltinOperator.CONV_2D, tensors, options, schema.BuiltinOptions.Conv2DOptions, version=3)


def depthwise_conv_2d(
    input_shape: tuple[int, int, int],
    weights: NDArray[np.int8],
    bias: NDArray[np.int32],
    weight_scales: Sequence[float],
    input_quantisation: Quantisation,
    output_quantisation: Quantisation,
    stride: tuple[int, int] = (1, 1),
    dilation: tuple[int, int] = (1, 1),
    padding: str = "SAME",
    activation: str = "NONE",
) -> bytes:
    """Return a model of a depthwise convolution.

    Weights are [1][height][width][output channel]. The depth multiplier is output channels / input channels.
    """
    height, width, in_channels = input_shape
    _, window_h, window_w, channels = weights.shape
    options = schema.DepthwiseConv2DOptionsT()
    options.padding = _padding(padding)
    options.strideH, options.strideW = stride
    options.dilationHFactor, options.dilationWFactor = dilation
    options.depthMultiplier = channels // in_channels
    options.fusedActivationFunction = _ACTIVATIONS[activation]
    out_h, _ = window_output(height, window_h, stride[0], dilation[0], padding)
    out_w, _ = window_output(width, window_w, stride[1], dilation[1], padding)
    assert isinstance(input_quantisation.scale, float)
    tensors = [
        Tensor("input", (1, *input_shape), np.int8, input_quantisation),
        Tensor("weights", weights.shape, np.int8, Quantisation(weight_scales, 0, 3), weights),
        _bias(bias, input_quantisation.scale, weight_scales),
        Tensor("output", (1, out_h, out_w, channels), np.int8, output_quantisation),
    ]
    return write_model(
        schema.BuiltinOperator.DEPTHWISE_CONV_2D,
        tensors,
        options,
        schema.BuiltinOptions.DepthwiseConv2DOptions,
        version=3,
    )


def fully_connected(
    rows: int,
    weights: NDArray[np.int8],
    bias: NDArray[np.int32],
    weight_scales: Sequence[float],
    input_quantisation: Quantisation,
    output_quantisation: Quantisation,
    activation: str = "NONE",
) -> bytes:
    """Return a model of a fully connected layer, with one scale per output or one.

    Weights are [output][input], and the input is [rows][input].
    """
    options = schema.FullyConnectedOptionsT()
    options.fusedActivationFunction = _ACTIVATIONS[activation]
    outputs, inputs = weights.shape
    assert isinstance(input_quantisation.scale, float)
    tensors = [
        Tensor("input", (rows, inputs), np.int8, input_quantisation),
        Tensor("weights", weights.shape, np.int8, Quantisation(weight_scales, 0, 0), weights),
        _bias(bias, input_quantisation.scale, weight_scales),
        Tensor("output", (rows, outputs), np.int8, output_quantisation),
    ]
    return write_model(
        schema.BuiltinOperator.FULLY_CONNECTED,
        tensors,
        options,
        schema.BuiltinOptions.FullyConnectedOptions,
        version=4,
    )


def add(
    shape_a: tuple[int, ...],
    shape_b: tuple[int, ...],
    a: Quantisation,
    b: Quantisation,
    output: Quantisation,
    activation: str = "NONE",
) -> bytes:
    """Return a model of an addition of two inputs whose shapes broadcast."""
    options = schema.AddOptionsT()
    options.fusedActivationFunction = _ACTIVATIONS[activation]
    tensors = [
        Tensor("a", shape_a, np.int8, a),
        Tensor("b", shape_b, np.int8, b),
        Tensor("output", np.broadcast_shapes(shape_a, shape_b), np.int8, output),
    ]
    return write_model(schema.BuiltinOperator.ADD, tensors, options, schema.BuiltinOptions.AddOptions, version=2)


def pool_2d(
    kind: str,
    input_shape: tuple[int, int, int],
    window: tuple[int, int],
    stride: tuple[int, int],
    quantisation: Quantisation,
    padding: str = "SAME",
    activation: str = "NONE",
) -> bytes:
    """Return a model of a pooling of the kind MAX or AVERAGE."""
    height, width, channels = input_shape
    options = schema.Pool2DOptionsT()
    options.padding = _padding(padding)
    options.strideH, options.strideW = stride
    options.filterHeight, options.filterWidth = window
    options.fusedActivationFunction = _ACTIVATIONS[activation]
    out_h, _ = window_output(height, window[0], stride[0], 1, padding)
    out_w, _ = window_output(width, window[1], stride[1], 1, padding)
    opcode = {"MAX": schema.BuiltinOperator.MAX_POOL_2D, "AVERAGE": schema.BuiltinOperator.AVERAGE_POOL_2D}[kind]
    tensors = [
        Tensor("input", (1, *input_shape), np.int8, quantisation),
        Tensor("output", (1, out_h, out_w, channels), np.int8, quantisation),
    ]
    return write_model(opcode, tensors, options, schema.BuiltinOptions.Pool2DOptions, version=2)


def mean(
    input_shape: tuple[int, int, int],
    quantisation: Quantisation,
    out_quantisation: Quantisation,
    keep_dims: bool = True,
    axes: Sequence[int] = (1, 2),
) -> bytes:
    """Return a model of a mean over height and width, however `axes` names them."""
    channels = input_shape[2]
    options = schema.ReducerOptionsT()
    options.keepDims = keep_dims
    tensors = [
        Tensor("input", (1, *input_shape), np.int8, quantisation),
        Tensor("axes", (len(axes),), np.int32, None, np.array(axes, np.int32)),
        Tensor("output", (1, 1, 1, channels) if keep_dims else (1, channels), np.int8, out_quantisation),
    ]
    return write_model(schema.BuiltinOperator.MEAN, tensors, options, schema.BuiltinOptions.ReducerOptions, version=2)


def pad(
    input_shape: tuple[int, ...],
    paddings: Sequence[tuple[int, int]],
    quantisation: Quantisation,
    value: int | None = None,
) -> bytes:
    """Return a model of a padding.

    Args:
        paddings: (before, after) of each dimension.
        value: None for PAD (the zero point), or the integer of PADV2.
    """
    output_shape = tuple(size + sum(both) for size, both in zip(input_shape, paddings, strict=True))
    tensors = [
        Tensor("input", input_shape, np.int8, quantisation),
        Tensor("paddings", (len(paddings), 2), np.int32, None, np.array(paddings, np.int32)),
    ]
    if value is not None:
        tensors.append(Tensor("value", (1,), np.int8, quantisation, np.array([value], np.int8)))
    tensors.append(Tensor("output", output_shape, np.int8, quantisation))
    if value is None:
        return write_model(
            schema.BuiltinOperator.PAD, tensors, schema.PadOptionsT(), schema.BuiltinOptions.PadOptions, version=2
        )
    return write_model(
        schema.BuiltinOperator.PADV2, tensors, schema.PadV2OptionsT(), schema.BuiltinOptions.PadV2Options, version=2
    )


def softmax(rows: int, depth: int, input_scale: float, input_zero_point: int = 0, beta: float = 1.0) -> bytes:
    options = schema.SoftmaxOptionsT()
    options.beta = beta
    tensors = [
        Tensor("input", (rows, depth), np.int8, Quantisation(input_scale, input_zero_point)),
        Tensor("output", (rows, depth), np.int8, Quantisation(1.0 / 256.0, -128)),
    ]
    return write_model(
        schema.BuiltinOperator.SOFTMAX, tensors, options, schema.BuiltinOptions.SoftmaxOptions, version=2
    )


def quantize(
    shape: tuple[int, ...],
    source: type[np.generic],
    target: type[np.generic],
    source_quantisation: Quantisation | None,
    target_quantisation: Quantisation,
) -> bytes:
    """Return a model of a QUANTIZE of np.float32 or an 8-bit type to an 8-bit type."""
    tensors = [
        Tensor("input", shape, source, source_quantisation),
        Tensor("output", shape, target, target_quantisation),
    ]
    return write_model(
        schema.BuiltinOperator.QUANTIZE,
        tensors,
        schema.QuantizeOptionsT(),
        schema.BuiltinOptions.QuantizeOptions,
        version=2,
    )


def dequantize(shape: tuple[int, ...], source: type[np.generic], quantisation: Quantisation) -> bytes:
    tensors = [Tensor("input", shape, source, quantisation), Tensor("output", shape, np.float32)]
    return write_model(
        schema.BuiltinOperator.DEQUANTIZE,
        tensors,
        schema.DequantizeOptionsT(),
        schema.BuiltinOptions.DequantizeOptions,
        version=2,
    )


def reshape(input_shape: tuple[int, ...], output_shape: tuple[int, ...], quantisation: Quantisation) -> bytes:
    options = schema.ReshapeOptionsT()
    options.newShape = list(output_shape)
    tensors = [
        Tensor("input", input_shape, np.int8, quantisation),
        Tensor("shape", (len(output_shape),), np.int32, None, np.array(output_shape, np.int32)),
        Tensor("output", output_shape, np.int8, quantisation),
    ]
    return write_model(schema.BuiltinOperator.RESHAPE, tensors, options, schema.BuiltinOptions.ReshapeOptions)
