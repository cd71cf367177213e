"""Writer of .tflite models of many operators with random weights.

Tests check the places of their activations. All tensors are int8, NHWC, batch 1. Scales are made up
so that values spread over the int8 range.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from one_op_models import Quantisation, Tensor, Type, code_of, model_of, operator_of, packed, tensor_of

_SCALE = 0.05
_SLIDING: dict[str, Any] = {"padding": "SAME", "dilationHFactor": 1, "dilationWFactor": 1}


class ModelWriter:
    """A model to which operators are appended in their order.

    Each method returns the index of its output tensor.
    """

    def __init__(self, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)
        self._model = model_of(())
        self._graph = self._model.subgraphs[0]
        self._graph.inputs = []
        self.shapes: list[tuple[int, ...]] = []

    def input(self, *shape: int) -> int:
        index = self._tensor((1, *shape))
        self._graph.inputs.append(index)
        return index

    def conv(self, source: int, channels: int, window: int = 1, stride: int = 1, relu6: bool = True) -> int:
        taps = window * window * self.shapes[source][3]
        shape = (channels, window, window, self.shapes[source][3])
        constants = self._weights(shape, channels, 0, taps)
        return self._sliding("CONV_2D", "Conv2D", [source, *constants], channels, stride, relu6)

    def depthwise(self, source: int, stride: int = 1, window: int = 3) -> int:
        channels = self.shapes[source][3]
        constants = self._weights((1, window, window, channels), channels, 3, window * window)
        inputs = [source, *constants]
        return self._sliding("DEPTHWISE_CONV_2D", "DepthwiseConv2D", inputs, channels, stride, True, depthMultiplier=1)

    def _sliding(
        self, name: str, table: str, inputs: list[int], channels: int, stride: int, relu6: bool, **options: int
    ) -> int:
        _, height, width, _ = self.shapes[inputs[0]]
        output = self._tensor((1, -(-height // stride), -(-width // stride), channels))
        steps = {"strideH": stride, "strideW": stride, "fusedActivationFunction": "RELU6" if relu6 else "NONE"}
        return self._operator(name, 3, inputs, output, table, **_SLIDING, **steps, **options)

    def fully_connected(self, source: int, outputs: int) -> int:
        inputs = math.prod(self.shapes[source])
        constants = self._weights((outputs, inputs), outputs, 0, inputs)
        return self._operator("FULLY_CONNECTED", 4, [source, *constants], self._tensor((1, outputs)), "FullyConnected")

    def add(self, first: int, second: int) -> int:
        return self._operator("ADD", 2, [first, second], self._tensor(self.shapes[first]), "Add")

    def mean(self, source: int) -> int:
        axes = self._constant(np.array([1, 2], np.int32))
        return self._operator("MEAN", 2, [source, axes], self._tensor((1, self.shapes[source][3])), "Reducer")

    def reshape(self, source: int, *shape: int) -> int:
        wanted = self._constant(np.array(shape, np.int32))
        return self._operator("RESHAPE", 1, [source, wanted], self._tensor(shape), "Reshape", newShape=list(shape))

    def concatenation(self, sources: list[int], axis: int) -> int:
        shape = list(self.shapes[sources[0]])
        shape[axis] = sum(self.shapes[each][axis] for each in sources)
        return self._operator("CONCATENATION", 2, sources, self._tensor(tuple(shape)), "Concatenation", axis=axis)

    def model(self, *outputs: int) -> bytes:
        self._graph.outputs = list(outputs)
        return packed(self._model)

    def _operator(self, name: str, version: int, inputs: list[int], output: int, table: str, **options: Any) -> int:
        self._model.operatorCodes.append(code_of(name, version))
        code = len(self._model.operatorCodes) - 1
        self._graph.operators.append(operator_of(code, inputs, [output], table, **options))
        return output

    def _tensor(self, shape: tuple[int, ...]) -> int:
        return self._append(shape, np.int8, [_SCALE])

    def _weights(self, shape: tuple[int, ...], channels: int, axis: int, taps: int) -> list[int]:
        values = self._rng.integers(-127, 128, shape, dtype=np.int8)
        scales = list(self._rng.uniform(0.5, 1.5, channels) / (40 * math.sqrt(taps)))
        bias = self._rng.integers(-500, 500, channels, dtype=np.int32)
        return [self._constant(values, scales, axis), self._constant(bias, [_SCALE * scale for scale in scales])]

    def _constant(self, values: NDArray[np.generic], scales: list[float] | None = None, axis: int = 0) -> int:
        return self._append(values.shape, values.dtype.type, scales, axis, values)

    def _append(
        self,
        shape: tuple[int, ...],
        dtype: Type,
        scales: list[float] | None,
        axis: int = 0,
        data: NDArray[np.generic] | None = None,
    ) -> int:
        quantisation = Quantisation(scales, 0, axis) if scales else None
        tensor = Tensor(f"tensor_{len(self.shapes)}", shape, dtype, quantisation, data)
        self._graph.tensors.append(tensor_of(self._model, tensor))
        self.shapes.append(shape)
        return len(self.shapes) - 1


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
