"""Small .tflite models of many operators, with the conventions of real models.

Scales follow the converter's rules: CONCATENATION, RESIZE, RESHAPE, PAD and the like keep those of
their input, LOGISTIC has 1/256 and -128. Weights are random and have a gain of about one, so that
values stay spread over the int8 range through many layers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from one_op_models import (
    Quantisation,
    Tensor,
    Type,
    code_of,
    model_of,
    operator_of,
    packed,
    quantisation_table,
    tensor_of,
)

Array = NDArray[Any]


@dataclass(frozen=True)
class Value:
    """A tensor of the graph; its scale is 0 if it is not quantised."""

    index: int
    shape: tuple[int, ...]
    scale: float
    zero_point: int


@dataclass
class Graph:
    """A graph whose operators are added by calls and run in that order."""

    seed: int = 1
    operators: list[Any] = field(default_factory=list)
    codes: dict[tuple[str, int], int] = field(default_factory=dict)
    inputs: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)
        self.tree = model_of(())
        self.tensors = self.tree.subgraphs[0].tensors

    def input(self, shape: tuple[int, ...], scale: float = 0.02, zero_point: int = -3, dtype: str = "float32") -> Value:
        value = self._value(shape, scale, zero_point, dtype=dtype)
        self.inputs.append(value.index)
        return value

    def constant(self, data: Array, scale: float = 0.0, zero_point: int = 0) -> Value:
        return self._value(data.shape, scale, zero_point, data)

    def numbers(self, *values: int) -> Value:
        """Add an int32 vector, such as a shape or axes."""
        return self.constant(np.array(values, np.int32))

    def add(
        self,
        name: str,
        inputs: Sequence[Value],
        shape: tuple[int, ...],
        quantisation: tuple[float, int] | None = None,
        *,
        version: int = 2,
        **options: Any,
    ) -> Value:
        """Add an operator with one output, by default quantised as its first input."""
        return self.add_all(name, inputs, [shape], quantisation, version=version, **options)[0]

    def add_real(self, name: str, inputs: Sequence[Value], shape: tuple[int, ...] = (), **options: Any) -> Value:
        """Add an operator whose output is not quantised, by default float32.

        Args:
            shape: Shape of the output; by default the inputs' broadcast shape.
        """
        made = shape or _broadcast(*inputs)
        return self.add(name, inputs, made, (0.0, 0), version=1, **{"table": name.title().replace("_", ""), **options})

    def positions(self, name: str, inputs: Sequence[Value], shape: tuple[int, ...] = (), **options: Any) -> Value:
        """Add an operator of int32."""
        return self.add_real(name, inputs, shape, dtype="int32", **options)

    def add_all(
        self,
        name: str,
        inputs: Sequence[Value],
        shapes: Sequence[tuple[int, ...]],
        quantisation: tuple[float, int] | None = None,
        *,
        version: int = 2,
        table: str = "",
        dtype: str = "float32",
        **options: Any,
    ) -> list[Value]:
        """Add an operator with several outputs.

        Args:
            table: Name of its table of options, without the ending.
            dtype: Type of outputs that are not quantised.
            options: Members of that table.
        """
        scale, zero_point = quantisation or (inputs[0].scale, inputs[0].zero_point)
        made = [self._value(shape, scale, zero_point, dtype=dtype) for shape in shapes]
        code = self.codes.setdefault((name, version), len(self.codes))
        given, results = ([value.index for value in values] for values in (inputs, made))
        self.operators.append(operator_of(code, given, results, table, **options))
        return made

    def bytes(self, *outputs: Value) -> bytes:
        self.tree.operatorCodes = [code_of(name, version) for name, version in self.codes]
        graph = self.tree.subgraphs[0]
        graph.operators, graph.inputs = self.operators, self.inputs
        graph.outputs = [value.index for value in outputs]
        return packed(self.tree)

    def _value(
        self,
        shape: tuple[int, ...],
        scale: float,
        zero_point: int,
        data: Array | None = None,
        dtype: str = "float32",
    ) -> Value:
        kind: Type = np.int8 if scale else np.dtype(dtype).type if data is None else data.dtype.type
        quantisation = Quantisation(scale, zero_point) if scale else None
        tensor = Tensor(f"tensor_{len(self.tensors)}", tuple(shape), kind, quantisation, data)
        self.tensors.append(tensor_of(self.tree, tensor))
        return Value(len(self.tensors) - 1, tuple(shape), scale, zero_point)

    # Layers with weights.

    def weights(self, shape: tuple[int, ...], axis: int, source: Value) -> list[Value]:
        """Add weights with a scale for each index of `axis`, and a matching bias."""
        channels = shape[axis]
        gain = 1 / (73 * np.sqrt(np.prod(shape) / channels))
        scales = [float(np.float32(scale)) for scale in self.random.uniform(0.7, 1.3, channels) * gain]
        data = self.random.integers(-127, 128, shape, dtype=np.int8)
        weights = self._value(shape, scales[0], 0, data)
        self.tensors[weights.index].quantization = quantisation_table(scales, axis=axis)
        bias = self.constant(self.random.integers(-2000, 2000, channels, dtype=np.int32))
        self.tensors[bias.index].quantization = quantisation_table([scale * source.scale for scale in scales])
        return [weights, bias]

    def conv(
        self, source: Value, channels: int, size: int = 3, stride: int = 1, activation: str = "NONE", dilation: int = 1
    ) -> Value:
        operands = [source, *self.weights((channels, size, size, source.shape[3]), 0, source)]
        return self._slide("CONV_2D", operands, channels, stride, activation, dilation, table="Conv2D")

    def depthwise(
        self, source: Value, size: int = 3, stride: int = 1, activation: str = "NONE", dilation: int = 1
    ) -> Value:
        depth = source.shape[3]
        operands = [source, *self.weights((1, size, size, depth), 3, source)]
        options = {"table": "DepthwiseConv2D", "depthMultiplier": 1}
        return self._slide("DEPTHWISE_CONV_2D", operands, depth, stride, activation, dilation, **options)

    def _slide(
        self,
        name: str,
        operands: Sequence[Value],
        channels: int,
        stride: int,
        activation: str,
        dilation: int,
        **options: Any,
    ) -> Value:
        _, height, width, _ = operands[0].shape
        return self.add(
            name,
            operands,
            (1, -(-height // stride), -(-width // stride), channels),
            self.spread(activation),
            padding="SAME",
            strideH=stride,
            strideW=stride,
            dilationHFactor=dilation,
            dilationWFactor=dilation,
            fusedActivationFunction=activation,
            **options,
        )

    def dense(self, source: Value, channels: int, activation: str = "NONE") -> Value:
        depth = source.shape[-1]
        weights, bias = self.weights((channels, depth), 0, source)
        return self.add(
            "FULLY_CONNECTED",
            [source, weights, bias],
            (1, channels),
            self.spread(activation),
            version=5,
            table="FullyConnected",
            fusedActivationFunction=activation,
        )

    def spread(self, activation: str = "NONE") -> tuple[float, int]:
        """Return scale and zero point of an output, different for each call."""
        if activation == "RELU6":
            return 6 / 255, -128
        if activation == "RELU":
            return float(np.float32(self.random.uniform(0.012, 0.02))), -128
        return float(np.float32(self.random.uniform(0.02, 0.03))), int(self.random.integers(-10, 10))

    # Layers without weights.

    def sum(self, a: Value, b: Value) -> Value:
        return self.add("ADD", [a, b], _broadcast(a, b), self.spread(), table="Add", potScaleInt16=False)

    def difference(self, a: Value, b: Value) -> Value:
        return self.add("SUB", [a, b], _broadcast(a, b), self.spread(), table="Sub", potScaleInt16=False)

    def product(self, a: Value, b: Value) -> Value:
        return self.add("MUL", [a, b], _broadcast(a, b), self.spread(), table="Mul")

    def logistic(self, source: Value) -> Value:
        return self.add("LOGISTIC", [source], source.shape, (1 / 256, -128))

    def silu(self, source: Value) -> Value:
        """Add a SiLU as converters write it: a value times its logistic."""
        return self.product(source, self.logistic(source))

    def like(self, source: Value, other: Value) -> Value:
        """Add a requantisation to the scale of another value if the scales differ.

        All inputs of a CONCATENATION have one scale.
        """
        if (source.scale, source.zero_point) == (other.scale, other.zero_point):
            return source
        return self.add("QUANTIZE", [source], source.shape, (other.scale, other.zero_point), table="Quantize")

    def concat(self, *parts: Value, axis: int = 3) -> Value:
        same = [self.like(part, parts[0]) for part in parts]
        shape = list(parts[0].shape)
        shape[axis] = sum(part.shape[axis] for part in parts)
        return self.add("CONCATENATION", same, tuple(shape), table="Concatenation", axis=axis)

    def split(self, source: Value, count: int, axis: int = 3) -> list[Value]:
        shape = list(source.shape)
        shape[axis] //= count
        axes = self.constant(np.array(axis, np.int32))
        # The axis comes first. The outputs are quantised as the input.
        quantisation = (source.scale, source.zero_point)
        return self.add_all(
            "SPLIT", [axes, source], [tuple(shape)] * count, quantisation, table="Split", numSplits=count
        )

    def reshape(self, source: Value, *shape: int) -> Value:
        return self.add("RESHAPE", [source, self.numbers(*shape)], shape, version=1, table="Reshape", newShape=[*shape])

    def transpose(self, source: Value, *order: int) -> Value:
        shape = tuple(source.shape[axis] for axis in order)
        return self.add("TRANSPOSE", [source, self.numbers(*order)], shape, table="Transpose")

    def resize(self, source: Value, height: int, width: int, kind: str = "Bilinear", **options: Any) -> Value:
        name = {"Bilinear": "RESIZE_BILINEAR", "NearestNeighbor": "RESIZE_NEAREST_NEIGHBOR"}[kind]
        shape = (1, height, width, source.shape[3])
        return self.add(name, [source, self.numbers(height, width)], shape, version=3, table=f"Resize{kind}", **options)

    def pool(self, source: Value, kind: str = "MAX", size: int = 2, stride: int = 2) -> Value:
        _, height, width, depth = source.shape
        return self.add(
            f"{kind}_POOL_2D",
            [source],
            (1, -(-height // stride), -(-width // stride), depth),
            table="Pool2D",
            padding="SAME",
            filterHeight=size,
            filterWidth=size,
            strideH=stride,
            strideW=stride,
        )

    def mean(self, source: Value, *axes: int) -> Value:
        shape = tuple(1 if axis in axes else size for axis, size in enumerate(source.shape))
        return self.add("MEAN", [source, self.numbers(*axes)], shape, self.spread(), table="Reducer", keepDims=True)

    def pad(self, source: Value, *before_after: tuple[int, int]) -> Value:
        shape = tuple(before + size + after for size, (before, after) in zip(source.shape, before_after, strict=True))
        widths = self.constant(np.array(before_after, np.int32))
        return self.add("PAD", [source, widths], shape, table="Pad")

    def slice(self, source: Value, begin: Sequence[int], end: Sequence[int]) -> Value:
        shape = tuple(last - first for first, last in zip(begin, end, strict=True))
        bounds = [self.numbers(*begin), self.numbers(*end), self.numbers(*[1] * len(shape))]
        return self.add("STRIDED_SLICE", [source, *bounds], shape, table="StridedSlice")

    def softmax(self, source: Value) -> Value:
        return self.add("SOFTMAX", [source], source.shape, (1 / 256, -128), table="Softmax", beta=1.0)

    def dequantize(self, source: Value) -> Value:
        return self.add("DEQUANTIZE", [source], source.shape, (0.0, 0), table="Dequantize")


def _broadcast(*values: Value) -> tuple[int, ...]:
    return tuple(int(size) for size in np.broadcast_shapes(*(value.shape for value in values)))
