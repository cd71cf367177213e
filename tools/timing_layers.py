"""Layers of well-known networks, from their published architectures.

They are for measurements whose compiled network is not public. Each function gives the layers in
their order. Operators between convolutions (activations, additions, pooling of a convolution's
output) are computed in the same epoch, and are no layers of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from n6build.judge.timing.facts import Architecture


@dataclass(frozen=True)
class Layer:
    """A layer of a network.

    Attributes:
        elements_in: Elements of the input.
        elements_out: Elements of the output.
        macs: Multiply-accumulates.
        weights: Parameters, one byte each.
        depthwise: Each channel is convolved by itself.
    """

    elements_in: int
    elements_out: int
    macs: int
    weights: int
    depthwise: bool = False

    @property
    def elements(self) -> int:
        """Return the elements of the widest stream, one byte an element.

        They are the outputs; for a depthwise layer, inputs or outputs, whichever are more.
        """
        return max(self.elements_in, self.elements_out) if self.depthwise else self.elements_out


# The pairs are channels and stride behind each depthwise layer.
_V1 = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *(((512, 1),) * 5), (1024, 2), (1024, 1))
_FAST = ((64, 2), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *(((512, 1),) * 4), (1024, 1))
# The entries are expansion, channels, repetitions, stride of the first repetition (Sandler et al., 2018, table 2).
V2_BLOCKS = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
_DIVISOR = 8
# No rounding of channels takes away more than a tenth of them.
_LEAST_KEPT = 0.9


def layers_of(architecture: Architecture) -> tuple[Layer, ...]:
    """Return the layers of a network by the name of its architecture."""
    made = {
        "mobilenet-v1": lambda: _mobilenet_v1(architecture, _V1),
        "fd-mobilenet": lambda: _mobilenet_v1(architecture, _FAST),
        "mobilenet-v2": lambda: _mobilenet_v2(architecture),
        "resnet18-half": lambda: _resnet18_half(architecture),
        "tiny-yolo-v2": lambda: _tiny_yolo_v2(architecture),
        "yolo-v8n": lambda: _yolo_v8n(architecture),
    }
    return tuple(made[architecture.name]())


@dataclass
class _Shape:
    """The shape of the tensor that the next layer reads."""

    height: int
    width: int
    channels: int

    @property
    def elements(self) -> int:
        return self.height * self.width * self.channels

    def conv(self, channels: int, side: int, stride: int = 1, *, depthwise: bool = False) -> Layer:
        """Return a convolution with padding; the shape becomes that of its output."""
        before, inputs = self.elements, 1 if depthwise else self.channels
        self.height, self.width, self.channels = ceil(self.height / stride), ceil(self.width / stride), channels
        kernel = side * side * inputs
        return Layer(before, self.elements, self.elements * kernel, channels * (kernel + 4), depthwise)

    def depthwise(self, stride: int = 1) -> Layer:
        return self.conv(self.channels, 3, stride, depthwise=True)

    def pool(self) -> None:
        self.height, self.width = self.height // 2, self.width // 2

    def dense(self, outputs: int) -> Layer:
        """Return a dense layer behind a global average."""
        return Layer(self.channels, outputs, self.channels * outputs, outputs * (self.channels + 4))


def _input(architecture: Architecture) -> _Shape:
    height, width, channels = architecture.input
    return _Shape(height, width, channels)


def _mobilenet_v1(architecture: Architecture, blocks: Sequence[tuple[int, int]]) -> Iterator[Layer]:
    shape, alpha = _input(architecture), architecture.alpha
    yield shape.conv(int(32 * alpha), 3, 2)
    for channels, stride in blocks:
        yield shape.depthwise(stride)
        yield shape.conv(int(channels * alpha), 1)
    yield shape.dense(architecture.classes)


def rounded_channels(channels: float) -> int:
    """Return the nearest number of channels that MobileNetV2 has."""
    rounded = max(_DIVISOR, int(channels + _DIVISOR / 2) // _DIVISOR * _DIVISOR)
    return rounded + _DIVISOR if rounded < _LEAST_KEPT * channels else rounded


def _mobilenet_v2(architecture: Architecture) -> Iterator[Layer]:
    shape, alpha = _input(architecture), architecture.alpha
    yield shape.conv(rounded_channels(32 * alpha), 3, 2)
    for expansion, channels, repetitions, first in V2_BLOCKS:
        for index in range(repetitions):
            if expansion > 1:
                yield shape.conv(expansion * shape.channels, 1)
            yield shape.depthwise(first if index == 0 else 1)
            yield shape.conv(rounded_channels(channels * alpha), 1)
    yield shape.conv(rounded_channels(1280 * max(1.0, alpha)), 1)
    yield shape.dense(architecture.classes)


def _resnet18_half(architecture: Architecture) -> Iterator[Layer]:
    """Yield ResNet-18 with half of its channels."""
    shape = _input(architecture)
    yield shape.conv(32, 7, 2)
    shape.pool()
    for number, channels in enumerate((32, 64, 128, 256)):
        for block in range(2):
            stride = 2 if number and not block else 1
            skipped = _Shape(shape.height, shape.width, shape.channels)
            yield shape.conv(channels, 3, stride)
            yield shape.conv(channels, 3)
            if stride != 1:
                yield skipped.conv(channels, 1, stride)
    yield shape.dense(architecture.classes)


def _tiny_yolo_v2(architecture: Architecture) -> Iterator[Layer]:
    shape = _input(architecture)
    for channels in (16, 32, 64, 128, 256):
        yield shape.conv(channels, 3)
        shape.pool()
    for channels in (512, 1024, 512):
        yield shape.conv(channels, 3)
    yield shape.conv(architecture.classes, 1)


def _c2f(shape: _Shape, channels: int, repetitions: int) -> Iterator[Layer]:
    """Yield a C2f block: one half passes through more layers, and all are joined."""
    yield shape.conv(channels, 1)
    half = _Shape(shape.height, shape.width, channels // 2)
    for _ in range(2 * repetitions):
        yield half.conv(channels // 2, 3)
    shape.channels = (2 + repetitions) * channels // 2
    yield shape.conv(channels, 1)


def _yolo_v8n(architecture: Architecture) -> Iterator[Layer]:
    """Yield YOLOv8n without the work of SiLU, concatenation and decoding of boxes."""
    shape, classes = _input(architecture), architecture.classes
    yield shape.conv(16, 3, 2)
    kept = []
    for channels, repetitions in ((32, 1), (64, 2), (128, 2), (256, 1)):
        yield shape.conv(channels, 3, 2)
        yield from _c2f(shape, channels, repetitions)
        kept.append((shape.height, shape.width, shape.channels))
    yield shape.conv(128, 1)
    shape.channels = 512
    yield shape.conv(256, 1)
    outputs: list[tuple[int, int, int]] = []
    for (height, width, channels), wanted in ((kept[2], 128), (kept[1], 64)):
        shape = _Shape(height, width, channels + shape.channels)
        yield from _c2f(shape, wanted, 1)
        outputs.insert(0, (height, width, wanted))
    for height, width, channels in ((*kept[2][:2], 128), (*kept[3][:2], 256)):
        yield shape.conv(shape.channels, 3, 2)
        shape = _Shape(height, width, shape.channels + channels)
        yield from _c2f(shape, channels, 1)
        outputs.append((height, width, channels))
    for height, width, channels in (outputs[0], *outputs[2:]):
        for hidden, last in ((64, 64), (max(64, min(classes, 100)), classes)):
            head = _Shape(height, width, channels)
            yield head.conv(hidden, 3)
            yield head.conv(hidden, 3)
            yield head.conv(last, 1)
