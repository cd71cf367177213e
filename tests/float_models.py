"""Small float32 models as PyTorch exports them, quantised as by a user.

The tool is onnxruntime's quantize_static.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx_models import OnnxGraph
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static


class _Float(OnnxGraph):
    """A model with one input; methods return the name of the new value."""

    def __init__(self, *shape: int) -> None:
        super().__init__()
        self._rng = np.random.default_rng(0)
        self.input = self.new("input")
        self._shape = list(shape)

    def integers(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def number(self, value: float) -> str:
        return self.constant(np.float32(value))

    def weights(self, *shape: int) -> str:
        fan = np.prod(shape[1:]) if len(shape) > 1 else 1
        return self.constant((self._rng.normal(0, 1, shape) / np.sqrt(fan)).astype(np.float32))

    def nodes(self, kind: str, *inputs: str, outputs: int, **attributes: Any) -> list[str]:
        names = [self.new(kind) for _ in range(outputs)]
        return self.add(kind, inputs, names, name=names[0], **attributes)

    def node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        return self.nodes(kind, *inputs, outputs=1, **attributes)[0]

    def conv(self, name: str, channels: tuple[int, int], size: int = 3, stride: int = 1) -> str:
        """Add a convolution that is padded by half the window.

        Args:
            channels: Channels of its input and of its output.
        """
        options = {"kernel_shape": [size, size], "strides": [stride, stride], "pads": [size // 2] * 4}
        weights = self.weights(channels[1], channels[0], size, size)
        return self.node("Conv", name, weights, self.weights(channels[1]), **options)

    def relu(self, name: str, channels: tuple[int, int], size: int = 3, stride: int = 1) -> str:
        return self.node("Relu", self.conv(name, channels, size, stride))

    def silu(self, name: str, channels: tuple[int, int], size: int = 3, stride: int = 1) -> str:
        made = self.conv(name, channels, size, stride)
        return self.node("Mul", made, self.node("Sigmoid", made))

    def dense(self, name: str, inputs: int, outputs: int) -> str:
        product = self.node("MatMul", name, self.weights(inputs, outputs))
        return self.node("Add", product, self.weights(outputs))

    def normalised(self, name: str, depth: int) -> str:
        return self.node("LayerNormalization", name, self.weights(depth), self.weights(depth), epsilon=1e-6)

    def model(self, output: str) -> onnx.ModelProto:
        taken = helper.make_tensor_value_info(self.input, TensorProto.FLOAT, self._shape)
        given = helper.make_tensor_value_info(output, TensorProto.FLOAT, None)
        return self.finished([taken], [given], onnx=17)


def _classifier() -> onnx.ModelProto:
    """Return a classifier that shuffles channels, like ShuffleNet.

    Its mean is a ReduceMean.
    """
    net = _Float(1, 3, 16, 12)
    name = net.node("Reshape", net.relu(net.input, (3, 16)), net.integers(1, 2, 8, 16, 12))
    name = net.node("Transpose", name, perm=[0, 2, 1, 3, 4])
    name = net.node("Reshape", name, net.integers(1, 16, 16, 12))
    first, second = net.nodes("Split", name, net.integers(8, 8), outputs=2, axis=1)
    second = net.node("PRelu", net.conv(second, (8, 8)), net.weights(8, 1, 1))
    name = net.node("ReduceMean", net.node("Concat", first, second, axis=1), axes=[2, 3], keepdims=0)
    name = net.node("Gemm", name, net.weights(10, 16), net.weights(10), transB=1)
    return net.model(net.node("Softmax", name, axis=1))


def _detector() -> onnx.ModelProto:
    """Return a detector like YOLOv8.

    It has two levels, then boxes from distributions.
    """
    net = _Float(1, 3, 16, 16)
    fine = net.silu(net.silu(net.input, (3, 8), 3, 2), (8, 16))
    coarse = net.silu(fine, (16, 16), 3, 2)
    pooled = net.node("MaxPool", coarse, kernel_shape=[5, 5], pads=[2] * 4, strides=[1, 1])
    coarse = net.silu(net.node("Concat", coarse, pooled, axis=1), (32, 16), 1)
    how = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    large = net.node("Resize", coarse, "", net.constant(np.array([1, 1, 2, 2], np.float32)), **how)
    fine = net.silu(net.node("Concat", large, fine, axis=1), (32, 16))
    heads = []
    for level in (fine, coarse):
        both = net.node("Concat", net.conv(level, (16, 32), 1), net.conv(level, (16, 5), 1), axis=1)
        heads.append(net.node("Reshape", both, net.integers(1, 37, -1)))
    boxes, classes = net.nodes("Split", net.node("Concat", *heads, axis=2), net.integers(32, 5), outputs=2, axis=1)
    boxes = net.node("Transpose", net.node("Reshape", boxes, net.integers(1, 4, 8, 80)), perm=[0, 2, 1, 3])
    steps = net.constant(np.arange(8, dtype=np.float32).reshape(1, 8, 1, 1))
    boxes = net.node("Conv", net.node("Softmax", boxes, axis=1), steps, kernel_shape=[1, 1])
    boxes = net.node("Reshape", boxes, net.integers(1, 4, 80))
    ends = [
        net.node("Slice", boxes, net.integers(begin), net.integers(begin + 2), net.integers(1), net.integers(1))
        for begin in (0, 2)
    ]
    anchors = net.constant((np.arange(160).reshape(1, 2, 80) % 8 + 0.5).astype(np.float32))
    low, high = net.node("Sub", anchors, ends[0]), net.node("Add", anchors, ends[1])
    centre = net.node("Div", net.node("Add", low, high), net.number(2))
    boxes = net.node("Concat", centre, net.node("Sub", high, low), axis=1)
    strides = np.repeat(np.array([4, 8], np.float32), (64, 16)).reshape(1, 80)
    boxes = net.node("Mul", boxes, net.constant(strides))
    return net.model(net.node("Concat", boxes, net.node("Sigmoid", classes), axis=1))


def _segmenter() -> onnx.ModelProto:
    """Return a segmenter like DeepLabV3.

    It has pooled features beside others, a transposed convolution, and a result as large as the
    picture.
    """
    net = _Float(1, 3, 16, 16)
    name = net.relu(net.input, (3, 16), 3, 4)
    pooled = net.relu(net.node("GlobalAveragePool", name), (16, 8), 1)
    how = {"mode": "linear", "coordinate_transformation_mode": "pytorch_half_pixel"}
    pooled = net.node("Resize", pooled, "", "", net.integers(1, 8, 4, 4), **how)
    name = net.relu(net.node("Concat", net.relu(name, (16, 8), 1), pooled, axis=1), (16, 8), 1)
    options = {"kernel_shape": [2, 2], "strides": [2, 2]}
    name = net.node("ConvTranspose", name, net.weights(8, 6, 2, 2), net.weights(6), **options)
    return net.model(net.node("Resize", name, "", "", net.integers(1, 6, 16, 16), **how))


def _transformer() -> onnx.ModelProto:
    """Return one block of a vision transformer.

    The class is read from the first token.
    """
    net = _Float(1, 3, 16, 16)
    depth, heads, tokens = 16, 2, 17
    name = net.node("Conv", net.input, net.weights(depth, 3, 4, 4), net.weights(depth), strides=[4, 4])
    name = net.node("Transpose", net.node("Reshape", name, net.integers(1, depth, 16)), perm=[0, 2, 1])
    name = net.node("Concat", net.weights(1, 1, depth), name, axis=1)
    name = net.node("Add", name, net.weights(1, tokens, depth))
    parts = net.dense(net.normalised(name, depth), depth, 3 * depth)
    parts = net.node("Reshape", parts, net.integers(1, tokens, 3, heads, depth // heads))
    parts = net.node("Transpose", parts, perm=[2, 0, 3, 1, 4])
    query, key, value = (net.node("Gather", parts, net.constant(np.int64(part)), axis=0) for part in range(3))
    scores = net.node("MatMul", query, net.node("Transpose", key, perm=[0, 1, 3, 2]))
    scores = net.node("Softmax", net.node("Mul", scores, net.number((depth // heads) ** -0.5)), axis=-1)
    made = net.node("Transpose", net.node("MatMul", scores, value), perm=[0, 2, 1, 3])
    made = net.dense(net.node("Reshape", made, net.integers(1, tokens, depth)), depth, depth)
    name = net.node("Add", name, made)
    wide = net.dense(net.normalised(name, depth), depth, 2 * depth)
    error = net.node("Erf", net.node("Div", wide, net.number(2**0.5)))
    wide = net.node("Mul", net.node("Mul", wide, net.node("Add", error, net.number(1))), net.number(0.5))
    name = net.normalised(net.node("Add", name, net.dense(wide, 2 * depth, depth)), depth)
    name = net.node("Gather", name, net.constant(np.int64(0)), axis=1)
    return net.model(net.node("Gemm", name, net.weights(10, depth), net.weights(10), transB=1))


MODELS: dict[str, Callable[[], onnx.ModelProto]] = {
    "classifier": _classifier,
    "detector": _detector,
    "segmenter": _segmenter,
    "transformer": _transformer,
}


class Rows(CalibrationDataReader):  # type: ignore[misc]
    """Samples for the calibration of a model with one input."""

    def __init__(self, name: str, samples: Iterable[np.ndarray]) -> None:
        self._rows = iter([{name: each} for each in samples])

    def get_next(self) -> dict[str, Any] | None:
        return next(self._rows, None)


def quantise_file(source: Path, target: Path, rows: Rows, dtype: str = "int8", **options: Any) -> Path:
    """Quantise a model as onnxruntime's documentation does, and return the target."""
    quantize_static(
        source,
        target,
        rows,
        quant_format=QuantFormat.QDQ,
        per_channel=True,
        activation_type=QuantType.QInt8 if dtype == "int8" else QuantType.QUInt8,
        weight_type=QuantType.QInt8,
        **options,
    )
    return target


def quantised(name: str, dtype: str, folder: Path) -> Path:
    """Quantise a model.

    Args:
        name: One of MODELS.
        dtype: Type of activations, int8 or uint8; weights are int8.
    """
    source, model, rng = folder / "float.onnx", MODELS[name](), np.random.default_rng(1)
    onnx.save(model, source)
    (port,) = model.graph.input
    shape = [size.dim_value for size in port.type.tensor_type.shape.dim]
    rows = Rows(port.name, [rng.normal(0, 1, shape).astype(np.float32) for _ in range(4)])
    return quantise_file(source, folder / "model.onnx", rows, dtype)
