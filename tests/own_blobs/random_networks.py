"""Random networks with the operators of the NPU and others around them.

Tensors of three dimensions, parts that are joined along any dimension, views, several outputs, and images in batches are
as likely as plain chains of convolutions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from graph_models import Graph, Value
from qdq_models import Layers, Scale

_MOST_ELEMENTS = 6000
_CHANNELS = (3, 8, 16, 24, 32, 48)
_ACTIVATIONS = ("NONE", "RELU", "RELU6")


def random_tflite(seed: int) -> bytes:
    """Return a .tflite model of up to twelve random layers."""
    graph = _RandomGraph(seed)
    for _ in range(int(graph.random.integers(2, 13))):
        graph.extend()
    return graph.finished()


class _RandomGraph(Graph):
    """A graph that grows by random layers."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        size, channels = int(self.random.integers(4, 17)), int(self.random.choice(_CHANNELS))
        zero_point = int(self.random.choice((-128, -3)))
        shape = (1, size, int(self.random.integers(4, 17)), channels)
        self.values = [self.input(shape, zero_point=zero_point)]
        if self.random.random() < 0.2:
            self.values.append(self.input(shape, 0.03, 5))
        self.used: set[int] = set()

    def extend(self) -> None:
        """Add a random layer that suits a random value, most often the last one."""
        back = int(self.random.geometric(0.6))
        source = self.values[-min(back, len(self.values))]
        suiting = [make for suits, make in _LAYERS if suits(source)]
        for made in suiting[int(self.random.integers(len(suiting)))](self, source):
            if np.prod(made.shape) <= _MOST_ELEMENTS:
                self.values.append(made)

    def finished(self) -> bytes:
        """Return the model.

        Its outputs are the values that no layer reads, and sometimes one more.
        """
        read = {int(index) for each in self.operators for index in each.inputs}
        made = {int(index) for each in self.operators for index in each.outputs}
        outputs = [value for value in self.values if value.index in made - read]
        others = [value for value in self.values if value.index in made & read]
        if not outputs or (others and self.random.random() < 0.2):
            outputs.append(others[int(self.random.integers(len(others)))])
        return self.bytes(*outputs)

    def other(self, source: Value) -> Value:
        """Return another value of the same shape, a new layer's if there is none."""
        alike = [each for each in self.values if each.shape == source.shape and each.index != source.index]
        if alike:
            return alike[int(self.random.integers(len(alike)))]
        return self.conv(source, source.shape[3], 1) if _is_image(source) else self.logistic(source)

    def joined(self, source: Value) -> list[Value]:
        """Join values along any dimension, with new scales where needed."""
        axis = int(self.random.integers(1, len(source.shape)))
        parts = [source, *(self.other(source) for _ in range(int(self.random.integers(1, 3))))]
        if self.random.random() < 0.3 and _is_image(source):
            channels = source.shape[3]
            parts = [self.conv(source, channels, 1, activation="RELU6") for _ in range(2)]
        return [self.concat(*parts, axis=axis)]

    def cut(self, source: Value) -> list[Value]:
        axis = int(self.random.choice([axis for axis, size in enumerate(source.shape) if axis and size % 2 == 0]))
        return self.split(source, 2, axis)

    def regrouped(self, source: Value) -> list[Value]:
        """Reshape to two, three or four dimensions."""
        batch, *sizes = source.shape
        elements = int(np.prod(sizes))
        shapes = [(elements,), (sizes[0], elements // sizes[0]), (1, sizes[0], elements // sizes[0])]
        return [self.reshape(source, batch, *shapes[int(self.random.integers(3))])]

    def reordered(self, source: Value) -> list[Value]:
        order = 1 + self.random.permutation(len(source.shape) - 1)
        return [self.transpose(source, 0, *map(int, order))]

    def cut_out(self, source: Value) -> list[Value]:
        begin = [int(self.random.integers(0, max(1, size // 2))) for size in source.shape]
        end = [int(self.random.integers(first + 1, size + 1)) for first, size in zip(begin, source.shape, strict=True)]
        return [self.slice(source, begin, end)]

    def around(self, source: Value) -> list[Value]:
        both = [(0, 0)] + [(int(a), int(b)) for a, b in self.random.integers(0, 3, (len(source.shape) - 1, 2))]
        if _is_image(source):
            both[3] = (0, 0)
        return [self.pad(source, *both)]

    def twice(self, source: Value) -> list[Value]:
        """Make a batch of two images, its means or paddings, and one image of it again."""
        both = self.concat(source, self.other(source), axis=0)
        made = self.mean(both, 1, 2) if self.random.random() < 0.5 else self.pad(both, (0, 0), (1, 0), (0, 1), (0, 0))
        return [self.slice(made, (1, 0, 0, 0), made.shape)]

    def convolved(self, source: Value) -> list[Value]:
        channels, size = int(self.random.choice(_CHANNELS)), int(self.random.choice((1, 1, 3, 3, 5)))
        return [self.conv(source, channels, size, int(self.random.integers(1, 3)), self.activation())]

    def each_channel(self, source: Value) -> list[Value]:
        return [self.depthwise(source, 3, int(self.random.integers(1, 3)), self.activation())]

    def activation(self) -> str:
        return str(self.random.choice(_ACTIVATIONS))

    def resized(self, source: Value) -> list[Value]:
        return [self.resize(source, 2 * source.shape[1], 2 * source.shape[2], "NearestNeighbor")]


def _is_image(value: Value) -> bool:
    return len(value.shape) == 4 and value.shape[0] == 1


def _is_large_image(value: Value) -> bool:
    return _is_image(value) and min(value.shape[1:3]) > 2


def _any(_: Value) -> bool:
    return True


def _is_even(value: Value) -> bool:
    return any(size % 2 == 0 for size in value.shape[1:])


Make = Callable[[_RandomGraph, Value], list[Value]]
_LAYERS: tuple[tuple[Callable[[Value], bool], Make], ...] = (
    *([(_is_image, _RandomGraph.convolved)] * 5),
    *([(_is_large_image, _RandomGraph.each_channel)] * 2),
    *([(_any, _RandomGraph.joined)] * 3),
    (_any, lambda graph, source: [graph.sum(source, graph.other(source))]),
    (_any, lambda graph, source: [graph.product(source, graph.other(source))]),
    (_any, lambda graph, source: [graph.logistic(source)]),
    (_any, lambda graph, source: [graph.softmax(source)]),
    (_any, _RandomGraph.regrouped),
    (_any, _RandomGraph.reordered),
    (_any, _RandomGraph.cut_out),
    (_any, _RandomGraph.around),
    (_is_even, _RandomGraph.cut),
    (_is_large_image, lambda graph, source: [graph.pool(source, str(graph.random.choice(("MAX", "AVERAGE"))))]),
    (_is_image, lambda graph, source: [graph.mean(source, 1, 2)]),
    (_is_image, _RandomGraph.resized),
    (_is_image, _RandomGraph.twice),
    (lambda value: len(value.shape) == 2, lambda graph, source: [graph.dense(source, 10)]),
)


# Name of a tensor, its scale, and its channels, height and width or its channels and length.
_Made = tuple[str, Scale, list[int]]


def random_onnx(seed: int) -> bytes:
    """Return a quantised ONNX model of up to eight random layers."""
    layers = Layers(seed, 14)
    rng = np.random.default_rng(seed)
    lines = bool(rng.random() < 0.4)
    channels = int(rng.choice(_CHANNELS))
    sizes = [int(size) for size in rng.integers(6, 15, 1 if lines else 2)]
    scale = Scale(0.03, int(rng.choice((-128, 7))))
    name, shape = layers.input([1, channels, *sizes], scale), [channels, *sizes]
    before: list[_Made] = [(name, scale, shape)]
    for _ in range(int(rng.integers(2, 9))):
        before.append(_next_layer(layers, rng, before))
    ends = [before[-1]] if rng.random() < 0.6 else before[-2:]
    return layers.model([name for name, _, _ in ends])


def _next_layer(layers: Layers, rng: np.random.Generator, before: list[_Made]) -> _Made:
    made = _with_weights if rng.random() < 0.5 else _joined if rng.random() < 0.3 else _without_weights
    return made(layers, rng, before) or _active(layers, before[-1])


def _with_weights(layers: Layers, rng: np.random.Generator, before: list[_Made]) -> _Made | None:
    name, scale, (channels, *sizes) = before[-1]
    rank, relu = len(sizes), bool(rng.random() < 0.5)
    if rng.random() < 0.3:
        how: dict[str, Any] = {"pads": [1] * 2 * rank, "group": channels}
        name, scale = layers.conv(name, scale, (channels, 1, *[3] * rank), relu=relu, **how)
        return name, scale, [channels, *sizes]
    made, size = int(rng.choice(_CHANNELS)), int(rng.choice((1, 3)))
    how = {"pads": [size // 2] * 2 * rank}
    name, scale = layers.conv(name, scale, (made, channels, *[size] * rank), relu=relu, **how)
    return name, scale, [made, *sizes]


def _joined(layers: Layers, rng: np.random.Generator, before: list[_Made]) -> _Made | None:
    name, scale, shape = before[-1]
    alike = [each for each in before[:-1] if each[2] == shape]
    if not alike:
        return None
    other, other_scale, _ = alike[int(rng.integers(len(alike)))]
    both = Scale(scale.scale + other_scale.scale, -9)
    if rng.random() < 0.5:
        return layers.operator("Add", [name, other], both), both, shape
    axis = int(rng.integers(1, len(shape) + 1))
    longer = [size * (2 if place == axis else 1) for place, size in enumerate(shape, 1)]
    return layers.operator("Concat", [name, other], both, axis=axis), both, longer


def _without_weights(layers: Layers, rng: np.random.Generator, before: list[_Made]) -> _Made | None:
    name, scale, (channels, *sizes) = before[-1]
    kind = str(rng.choice(["pool", "mean", "transpose", "split"]))
    if kind == "split" and channels % 2 == 0:
        half, _ = (layers.qdq(each, scale) for each in layers.node("Split", [name], 2, axis=1))
        return half, scale, [channels // 2, *sizes]
    if len(sizes) == 1:
        # The reference backend takes pools and means of images alone.
        return None
    if kind == "pool" and min(sizes) > 2:
        made = layers.operator("MaxPool", [name], scale, kernel_shape=[2, 2], strides=[2, 2])
        return made, scale, [channels, *(size // 2 for size in sizes)]
    if kind == "mean":
        mean = Scale(scale.scale * 0.4, 3)
        return layers.operator("GlobalAveragePool", [name], mean), mean, [channels, 1, 1]
    return layers.operator("Transpose", [name], scale, perm=[0, 1, 3, 2]), scale, [channels, *sizes[::-1]]


def _active(layers: Layers, last: _Made) -> _Made:
    name, scale, shape = last
    active = layers.any_scale(scale.scale * 0.7)
    return layers.operator("HardSwish", [name], active), active, shape
