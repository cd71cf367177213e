"""Writer of .tflite models of many operators with random weights.

Tests check the places of their activations. All tensors are int8, NHWC, batch 1. Scales are made up
so that values spread over the int8 range.
"""

import math

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from numpy.typing import NDArray

_SCALE = 0.05


class ModelWriter:
    """A model to which operators are appended in their order.

    Each method returns the index of its output tensor.
    """

    def __init__(self, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)
        self._model = schema.ModelT()
        self._model.version = 3
        self._model.operatorCodes = []
        self._model.buffers = [schema.BufferT()]
        self._graph = schema.SubGraphT()
        self._graph.name = "main"
        self._graph.tensors, self._graph.operators, self._graph.inputs = [], [], []
        self.shapes: list[tuple[int, ...]] = []

    def input(self, *shape: int) -> int:
        index = self._tensor((1, *shape))
        self._graph.inputs.append(index)
        return index

    def conv(self, source: int, channels: int, window: int = 1, stride: int = 1, relu6: bool = True) -> int:
        _, height, width, depth = self.shapes[source]
        options = schema.Conv2DOptionsT()
        options.padding = schema.Padding.SAME
        options.strideH = options.strideW = stride
        options.dilationHFactor = options.dilationWFactor = 1
        options.fusedActivationFunction = _activation(relu6)
        constants = self._weights((channels, window, window, depth), channels, 0, window * window * depth)
        output = self._tensor((1, -(-height // stride), -(-width // stride), channels))
        return self._operator("CONV_2D", 3, [source, *constants], output, options, schema.BuiltinOptions.Conv2DOptions)

    def depthwise(self, source: int, stride: int = 1, window: int = 3) -> int:
        _, height, width, channels = self.shapes[source]
        options = schema.DepthwiseConv2DOptionsT()
        options.padding = schema.Padding.SAME
        options.strideH = options.strideW = stride
        options.dilationHFactor = options.dilationWFactor = 1
        options.depthMultiplier = 1
        options.fusedActivationFunction = _activation(True)
        constants = self._weights((1, window, window, channels), channels, 3, window * window)
        output = self._tensor((1, -(-height // stride), -(-width // stride), channels))
        kind = schema.BuiltinOptions.DepthwiseConv2DOptions
        return self._operator("DEPTHWISE_CONV_2D", 3, [source, *constants], output, options, kind)

    def fully_connected(self, source: int, outputs: int) -> int:
        inputs = math.prod(self.shapes[source])
        constants = self._weights((outputs, inputs), outputs, 0, inputs)
        output = self._tensor((1, outputs))
        options, kind = schema.FullyConnectedOptionsT(), schema.BuiltinOptions.FullyConnectedOptions
        return self._operator("FULLY_CONNECTED", 4, [source, *constants], output, options, kind)

    def add(self, first: int, second: int) -> int:
        output = self._tensor(self.shapes[first])
        options, kind = schema.AddOptionsT(), schema.BuiltinOptions.AddOptions
        return self._operator("ADD", 2, [first, second], output, options, kind)

    def mean(self, source: int) -> int:
        axes = self._constant(np.array([1, 2], np.int32))
        output = self._tensor((1, self.shapes[source][3]))
        options, kind = schema.ReducerOptionsT(), schema.BuiltinOptions.ReducerOptions
        return self._operator("MEAN", 2, [source, axes], output, options, kind)

    def reshape(self, source: int, *shape: int) -> int:
        wanted = self._constant(np.array(shape, np.int32))
        output = self._tensor(shape)
        options, kind = schema.ReshapeOptionsT(), schema.BuiltinOptions.ReshapeOptions
        options.newShape = list(shape)
        return self._operator("RESHAPE", 1, [source, wanted], output, options, kind)

    def concatenation(self, sources: list[int], axis: int) -> int:
        shape = list(self.shapes[sources[0]])
        shape[axis] = sum(self.shapes[each][axis] for each in sources)
        options, kind = schema.ConcatenationOptionsT(), schema.BuiltinOptions.ConcatenationOptions
        options.axis = axis
        options.fusedActivationFunction = _activation(False)
        return self._operator("CONCATENATION", 2, sources, self._tensor(tuple(shape)), options, kind)

    def model(self, *outputs: int) -> bytes:
        self._graph.outputs = list(outputs)
        self._model.subgraphs = [self._graph]
        builder = flatbuffers.Builder(1024)
        builder.Finish(self._model.Pack(builder), b"TFL3")
        return bytes(builder.Output())

    def _operator(
        self, opcode: str, version: int, inputs: list[int], output: int, options: object, options_type: int
    ) -> int:
        code = schema.OperatorCodeT()
        code.builtinCode = getattr(schema.BuiltinOperator, opcode)
        code.deprecatedBuiltinCode = code.builtinCode
        code.version = version
        self._model.operatorCodes.append(code)
        operator = schema.OperatorT()
        operator.opcodeIndex = len(self._model.operatorCodes) - 1
        operator.inputs, operator.outputs = inputs, [output]
        operator.builtinOptions, operator.builtinOptionsType = options, options_type
        self._graph.operators.append(operator)
        return output

    def _tensor(self, shape: tuple[int, ...]) -> int:
        return self._append(shape, schema.TensorType.INT8, [_SCALE], 0, 0)

    def _weights(self, shape: tuple[int, ...], channels: int, axis: int, taps: int) -> list[int]:
        values = self._rng.integers(-127, 128, shape, dtype=np.int8)
        scales = list(self._rng.uniform(0.5, 1.5, channels) / (40 * math.sqrt(taps)))
        bias = self._rng.integers(-500, 500, channels, dtype=np.int32)
        return [
            self._append(shape, schema.TensorType.INT8, scales, axis, self._data(values)),
            self._append(
                (channels,), schema.TensorType.INT32, [_SCALE * scale for scale in scales], 0, self._data(bias)
            ),
        ]

    def _constant(self, values: NDArray[np.int32]) -> int:
        return self._append(values.shape, schema.TensorType.INT32, [], 0, self._data(values))

    def _data(self, values: NDArray[np.generic]) -> int:
        buffer = schema.BufferT()
        buffer.data = np.frombuffer(values.tobytes(), np.uint8)
        self._model.buffers.append(buffer)
        return len(self._model.buffers) - 1

    def _append(self, shape: tuple[int, ...], kind: int, scales: list[float], axis: int, buffer: int) -> int:
        tensor = schema.TensorT()
        tensor.name = f"tensor_{len(self.shapes)}"
        tensor.shape, tensor.type, tensor.buffer = list(shape), kind, buffer
        if scales:
            tensor.quantization = schema.QuantizationParametersT()
            tensor.quantization.scale = scales
            tensor.quantization.zeroPoint = [0] * len(scales)
            tensor.quantization.quantizedDimension = axis
        self._graph.tensors.append(tensor)
        self.shapes.append(shape)
        return len(self.shapes) - 1


def _activation(relu6: bool) -> int:
    kinds = schema.ActivationFunctionType
    return int(kinds.RELU6 if relu6 else kinds.NONE)


def mobilenet_v2(size: int = 224) -> bytes:
    """Return MobileNetV2 1.0 of 1000 classes.

    At 224, its first expansion has 112 x 112 x 96 bytes, 1.5 MB together with the next tensor.
    """
    writer = ModelWriter()
    last = writer.conv(writer.input(size, size, 3), 32, 3, 2)
    for expansion, channels, count, first_stride in (
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ):
        for number in range(count):
            depth, stride = writer.shapes[last][3], first_stride if number == 0 else 1
            wide = writer.conv(last, expansion * depth) if expansion > 1 else last
            narrow = writer.conv(writer.depthwise(wide, stride), channels, relu6=False)
            last = writer.add(last, narrow) if stride == 1 and depth == channels else narrow
    return writer.model(writer.fully_connected(writer.mean(writer.conv(last, 1280)), 1000))
