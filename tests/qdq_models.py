"""Quantised ONNX models, written node by node.

Every activation is quantised (QDQ).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper
from onnx_models import OnnxGraph

Array = NDArray[Any]


@dataclass(frozen=True)
class Scale:
    """The quantisation of an activation.

    Attributes:
        dtype: int8 or uint8.
    """

    scale: float
    zero_point: int
    dtype: str = "int8"


class Qdq(OnnxGraph):
    """A model that grows by one operator at a time.

    Methods return the name of real numbers behind a DequantizeLinear.
    """

    def __init__(self, opset: int = 13) -> None:
        super().__init__()
        self._opset = opset
        self._inputs: list[Any] = []

    def node(
        self, kind: str, inputs: Sequence[str], outputs: int = 1, domain: str = "", **attributes: Any
    ) -> list[str]:
        names = [self.new(kind.lower()) for _ in range(outputs)]
        return self.add(kind, inputs, names, domain=domain, **attributes)

    def scale(self, scale: Scale) -> list[str]:
        return [self.constant(np.float32(scale.scale)), self.constant(np.dtype(scale.dtype).type(scale.zero_point))]

    def qdq(self, name: str, scale: Scale) -> str:
        """Add QuantizeLinear and DequantizeLinear."""
        both = self.scale(scale)
        return self.node("DequantizeLinear", [*self.node("QuantizeLinear", [name, *both]), *both])[0]

    def port(self, shape: Sequence[int | str], dtype: int = TensorProto.FLOAT) -> str:
        name = self.new("input")
        self._inputs.append(helper.make_tensor_value_info(name, dtype, list(shape)))
        return name

    def input(self, shape: Sequence[int | str], scale: Scale) -> str:
        """Add a float32 input and its quantisation."""
        return self.qdq(self.port(shape), scale)

    def weights(self, values: Array, scales: Array | float, axis: int = 0) -> str:
        """Add int8 weights (or an int32 bias) behind a DequantizeLinear.

        Args:
            scales: A single scale, or several ones along `axis`.
        """
        scales = np.asarray(scales, np.float32)
        inputs = [self.constant(values), self.constant(scales), self.constant(np.zeros(scales.shape, values.dtype))]
        attributes: dict[str, Any] = {"axis": axis} if scales.ndim else {}
        return self.node("DequantizeLinear", inputs, **attributes)[0]

    def operator(self, kind: str, inputs: Sequence[str], scale: Scale, **attributes: Any) -> str:
        """Add one node and quantise its output."""
        return self.qdq(self.node(kind, inputs, **attributes)[0], scale)

    def subtracted_from(self, shape: Sequence[int], source: Scale, target: Scale) -> bytes:
        """Return a model of 1 - x."""
        name = self.input(shape, source)
        return self.model([self.operator("Sub", [self.constant(np.float32(1)), name], target)])

    def ending(self, kind: str, shape: Sequence[int], source: Scale, **attributes: Any) -> bytes:
        """Return a model whose output is not quantised."""
        return self.model(self.node(kind, [self.input(shape, source)], **attributes))

    def model(self, outputs: Sequence[str], types: Sequence[int] = ()) -> bytes:
        kinds = types or [TensorProto.FLOAT] * len(outputs)
        ports = [helper.make_tensor_value_info(name, kind, None) for name, kind in zip(outputs, kinds, strict=True)]
        made = self.finished(self._inputs, ports, onnx=self._opset, **{"com.microsoft": 1})
        return bytes(made.SerializeToString())


class Layers(Qdq):
    """A model of layers with random weights.

    Their scales spread the outputs over the range of int8.
    """

    def __init__(self, seed: int = 0, opset: int = 13, dtype: str = "int8") -> None:
        super().__init__(opset)
        self._rng = np.random.default_rng(seed)
        self._dtype = dtype

    def any_scale(self, scale: float) -> Scale:
        low = 0 if self._dtype == "uint8" else -128
        return Scale(
            scale * float(self._rng.uniform(0.7, 1.4)), int(self._rng.integers(low + 80, low + 176)), self._dtype
        )

    def conv(
        self,
        name: str,
        source: Scale,
        shape: tuple[int, ...],
        *,
        relu: bool = False,
        bias: bool = True,
        per_channel: bool = True,
        target: Scale | None = None,
        **attributes: Any,
    ) -> tuple[str, Scale]:
        """Add a convolution.

        Args:
            shape: Shape of the weights in ONNX's order.
        """
        weights = self._rng.integers(-127, 128, shape).astype(np.int8)
        scales = self._rng.uniform(0.002, 0.02, shape[0] if per_channel else ()).astype(np.float32)
        inputs = [name, self.weights(weights, scales)]
        taps = int(np.prod(shape[1:]))
        if bias:
            values = self._rng.integers(-50 * taps, 50 * taps + 1, shape[0]).astype(np.int32)
            inputs.append(self.weights(values, (np.float32(source.scale) * scales).astype(np.float32)))
        target = target or self.any_scale(source.scale * 0.011 * 73 * 73 * taps**0.5 * 5 / 255)
        if relu:
            target = Scale(target.scale, 0 if target.dtype == "uint8" else -128, target.dtype)
        made = self.node("Conv", inputs, **attributes)[0]
        if relu:
            made = self.node("Relu", [made])[0]
        return self.qdq(made, target), target

    def gemm(
        self, name: str, source: Scale, inputs: int, outputs: int, *, kind: str = "Gemm", per_channel: bool = True
    ) -> tuple[str, Scale]:
        """Add a fully connected layer.

        Args:
            kind: Gemm (with a bias, and transB) or MatMul.
        """
        shape = (outputs, inputs) if kind == "Gemm" else (inputs, outputs)
        weights = self._rng.integers(-127, 128, shape).astype(np.int8)
        scales = self._rng.uniform(0.002, 0.02, outputs if per_channel else ()).astype(np.float32)
        names = [name, self.weights(weights, scales, 0 if kind == "Gemm" else 1)]
        if kind == "Gemm":
            values = self._rng.integers(-3000, 3000, outputs).astype(np.int32)
            names.append(self.weights(values, (np.float32(source.scale) * scales).astype(np.float32)))
        target = self.any_scale(source.scale * 0.011 * 73 * 73 * inputs**0.5 * 5 / 255)
        return self.operator(kind, names, target, **({"transB": 1} if kind == "Gemm" else {})), target


def classifier(seed: int = 0, opset: int = 13, dtype: str = "int8") -> bytes:
    """Return a classifier.

    It has Conv, Relu, MaxPool, a depthwise Conv, GlobalAveragePool, Flatten and Gemm.
    """
    layers = Layers(seed, opset, dtype)
    scale = layers.any_scale(0.03)
    name = layers.input([1, 3, 19, 14], scale)
    name, scale = layers.conv(name, scale, (12, 3, 3, 3), relu=True, pads=[1, 1, 1, 1], strides=[2, 2])
    name = layers.operator("MaxPool", [name], scale, kernel_shape=[2, 2], strides=[1, 1])
    name, scale = layers.conv(name, scale, (12, 1, 3, 3), group=12, pads=[1, 1, 1, 1])
    pooled = Scale(scale.scale * 0.3, scale.zero_point, scale.dtype)
    name = layers.operator("GlobalAveragePool", [name], pooled)
    name = layers.operator("Flatten", [name], pooled)
    name, _ = layers.gemm(name, pooled, 12, 10)
    return layers.model([name])


def residual(seed: int = 0, dtype: str = "int8") -> bytes:
    """Return inverted residuals with squeeze and excite, like MobileNetV3.

    The model ends with a quantised Softmax.
    """
    layers = Layers(seed, 14, dtype)
    scale = layers.any_scale(0.03)
    name = layers.input([1, 3, 16, 12], scale)
    name, scale = layers.conv(name, scale, (8, 3, 3, 3), pads=[1, 1, 1, 1], strides=[2, 2])
    for _ in range(2):
        wide, wide_scale = layers.conv(name, scale, (16, 8, 1, 1))
        active = layers.any_scale(wide_scale.scale)
        wide = layers.operator("HardSwish", [wide], active)
        wide, wide_scale = layers.conv(wide, active, (16, 1, 5, 5), group=16, pads=[2, 2, 2, 2], relu=True)
        mean = layers.any_scale(wide_scale.scale * 0.5)
        gate, gate_scale = layers.conv(
            layers.operator("GlobalAveragePool", [wide], mean), mean, (4, 16, 1, 1), relu=True
        )
        gate, _ = layers.conv(gate, gate_scale, (16, 4, 1, 1))
        gate = layers.operator("HardSigmoid", [gate], Scale(1 / 255, 0 if dtype == "uint8" else -128, dtype))
        product = layers.any_scale(wide_scale.scale * 0.6)
        back, back_scale = layers.conv(layers.operator("Mul", [wide, gate], product), product, (8, 16, 1, 1))
        total = layers.any_scale(max(scale.scale, back_scale.scale) * 1.3)
        name, scale = layers.operator("Add", [name, back], total), total
    mean = layers.any_scale(scale.scale * 0.4)
    name = layers.operator("GlobalAveragePool", [name], mean)
    name = layers.operator("Reshape", [name, layers.constant(np.array([1, 8], np.int64))], mean)
    name, scale = layers.gemm(name, mean, 8, 10, kind="MatMul")
    name = layers.operator("Softmax", [name], Scale(1 / 256, 0 if dtype == "uint8" else -128, dtype), axis=-1)
    return layers.model([name])


def detector(seed: int = 0, dtype: str = "int8") -> bytes:
    """Return a detector like YOLO.

    It has Split, SiLU, Concat, Resize and two heads. A Transpose follows the joined outputs.
    """
    layers = Layers(seed, 13, dtype)
    scale = layers.any_scale(0.03)
    name = layers.input([1, 3, 16, 24], scale)
    name, scale = _silu(layers, *layers.conv(name, scale, (16, 3, 3, 3), pads=[1, 1, 1, 1], strides=[2, 2]))
    halves = layers.node("Split", [name], 2, axis=1)
    first, second = (layers.qdq(half, scale) for half in halves)
    deep, deep_scale = _silu(layers, *layers.conv(second, scale, (8, 8, 3, 3), pads=[1, 1, 1, 1]))
    joined_scale = layers.any_scale(max(scale.scale, deep_scale.scale))
    fine = layers.operator("Concat", [first, second, deep], joined_scale, axis=1)
    coarse, coarse_scale = _silu(
        layers, *layers.conv(fine, joined_scale, (16, 24, 3, 3), pads=[1, 1, 1, 1], strides=[2, 2])
    )
    coarse = layers.operator("MaxPool", [coarse], coarse_scale, kernel_shape=[5, 5], pads=[2, 2, 2, 2])
    sizes = [layers.constant(np.zeros(0, np.float32)), layers.constant(np.array([1, 1, 2, 2], np.float32))]
    how = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    large = layers.operator("Resize", [coarse, *sizes], coarse_scale, **how)
    both = layers.any_scale(max(joined_scale.scale, coarse_scale.scale))
    fine = layers.operator("Concat", [fine, large], both, axis=1)
    heads = []
    target = Scale(0.3, 0 if dtype == "int8" else 128, dtype)
    for head, of, channels in ((fine, both, 40), (coarse, coarse_scale, 16)):
        made, _ = layers.conv(head, of, (6, channels, 1, 1), target=target)
        shape = layers.constant(np.array([1, 6, -1], np.int64))
        heads.append(layers.operator("Reshape", [made, shape], target))
    rows = layers.operator("Concat", heads, target, axis=2)
    likely = Scale(1 / 256, 0 if dtype == "uint8" else -128, dtype)
    scores = layers.operator("Sigmoid", [rows], likely)
    ends = [layers.constant(np.array([each], np.int64)) for each in (4, 6, 1)]
    scores = layers.operator("Slice", [scores, *ends], likely)
    return layers.model([layers.operator("Transpose", [rows], target, perm=[0, 2, 1]), scores])


def mixture() -> bytes:
    """Return a model of nodes with many possible mistakes, one after another."""
    layers = Layers(opset=17)
    rng = np.random.default_rng(0)
    scale = Scale(0.03, 5)
    nothing = layers.constant(np.zeros(0, np.float32))
    name = layers.input([1, 4, 5, 6], scale)
    weights = layers.weights(rng.integers(-127, 128, (4, 3, 2, 2)).astype(np.int8), 0.01)
    name = layers.operator("ConvTranspose", [name, weights], scale, strides=[2, 2], output_padding=[1, 0])
    sizes = layers.constant(np.array([1, 3, 7, 9], np.int64))
    name = layers.operator("Resize", [name, nothing, nothing, sizes], scale, mode="linear")
    name = layers.operator("Gather", [name, layers.constant(np.array([2, 0]))], scale, axis=1)
    numbers = [layers.constant(rng.normal(1, 0.1, 9).astype(np.float32)) for _ in range(2)]
    name = layers.operator("LayerNormalization", [name, *numbers], scale)
    name = layers.operator("PRelu", [name, layers.constant(np.array([[[0.1]], [[0.2]]], np.float32))], scale)
    other = layers.operator("Transpose", [name], scale, perm=[0, 1, 3, 2])
    name = layers.operator("MatMul", [name, other], scale)
    name = layers.operator("ReduceMean", [name], scale, axes=[2, 3])
    name = layers.operator("Expand", [name, layers.constant(np.array([1, 2, 3, 3]))], scale)
    name = layers.operator("Pow", [name, layers.constant(np.float32(2))], scale)
    return layers.model([layers.operator("Div", [name, other := layers.operator("Exp", [name], scale)], scale), other])


def _silu(layers: Layers, name: str, scale: Scale) -> tuple[str, Scale]:
    gate = Scale(1 / 256, 0 if scale.dtype == "uint8" else -128, scale.dtype)
    target = layers.any_scale(scale.scale * 0.7)
    return layers.operator("Mul", [name, layers.operator("Sigmoid", [name], gate)], target), target
