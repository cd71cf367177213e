"""Layers of well-known shapes, and networks made of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from kernels import kernel_cases
from kernels.kernel_descriptors import Case

Shape = tuple[int, int, int]
Pair = tuple[int, int]


@dataclass(frozen=True)
class Layer:
    """A layer to measure.

    Attributes:
        name: Name of the layer.
        ours: The operator for n6build's kernels.
        theirs: The operator for CMSIS-NN's kernels; it differs if n6build's compiler calls another
            kernel than the operator's.
    """

    name: str
    ours: Case
    theirs: Case


def _rng() -> np.random.Generator:
    return np.random.default_rng(1)


def conv(shape: Shape, channels: int, window: Pair = (3, 3), stride: Pair = (1, 1)) -> Layer:
    """Return a convolution whose padding keeps the size or divides it by the stride."""
    case = kernel_cases.conv_2d(_rng(), shape, channels, window, stride)
    return Layer(f"convolution {_by(window)}/{stride[0]}, {_by(shape)} to {channels}", case, case)


def depthwise(shape: Shape, window: Pair = (3, 3), stride: Pair = (1, 1), least: int = -127) -> Layer:
    """Return a depthwise convolution of multiplier 1.

    Args:
        shape: Height, width and channels.
        window: Height and width of the window.
        stride: Strides.
        least: Least weight; -128 makes many weights -128.
    """
    case = kernel_cases.depthwise_conv_2d(_rng(), shape, 1, window, stride, weight_min=least, extreme=least == -128)
    name = f"depthwise {_by(window)}/{stride[0]}, {_by(shape)}"
    return Layer(name + (", many weights of -128" if least == -128 else ""), case, case)


def one_channel(shape: Pair, multiplier: int, window: Pair, stride: Pair = (1, 1)) -> Layer:
    """Return a depthwise convolution of one channel, compiled to a convolution."""
    theirs = kernel_cases.depthwise_conv_2d(_rng(), (*shape, 1), multiplier, window, stride)
    ours = kernel_cases.conv_2d(_rng(), (*shape, 1), multiplier, window, stride)
    return Layer(f"depthwise {_by(window)}/{stride[0]}, {_by(shape)}, one channel to {multiplier}", ours, theirs)


def fully_connected(inputs: int, outputs: int) -> Layer:
    """Return a layer with one row of inputs and one scale for all weights."""
    case = kernel_cases.fully_connected(_rng(), 1, inputs, outputs)
    return Layer(f"fully connected {inputs} to {outputs}", case, case)


def pool(kind: str, shape: Shape, window: Pair, stride: Pair) -> Layer:
    """Return a pooling layer without padding; `kind` is MAX or AVERAGE."""
    case = kernel_cases.pool_2d(_rng(), kind, shape, window, stride, "VALID")
    return Layer(f"{kind.lower()} pool {_by(window)}/{stride[0]}, {_by(shape)}", case, case)


def add(shape: Shape) -> Layer:
    """Return the addition of two tensors of the same shape."""
    case = kernel_cases.add(_rng(), shape)
    return Layer(f"add {_by(shape)}", case, case)


def softmax(depth: int) -> Layer:
    """Return a softmax of one row."""
    case = kernel_cases.softmax(_rng(), 1, depth, 0.1)
    return Layer(f"softmax of {depth}", case, case)


def _by(sizes: tuple[int, ...]) -> str:
    return "x".join(map(str, sizes))


LAYERS = [
    conv((32, 32, 16), 16),
    conv((24, 24, 8), 16, (1, 1)),
    conv((16, 16, 64), 64, (1, 1)),
    depthwise((24, 24, 32)),
    depthwise((25, 5, 64)),
    depthwise((3, 3, 256)),
    depthwise((14, 14, 96), (5, 5)),
    depthwise((24, 24, 32), least=-128),
    one_channel((49, 10), 64, (10, 4)),
    fully_connected(640, 128),
    fully_connected(128, 128),
    fully_connected(8, 128),
    pool("MAX", (34, 27, 64), (3, 3), (2, 2)),
    pool("MAX", (32, 32, 64), (2, 2), (2, 2)),
    pool("AVERAGE", (25, 5, 64), (25, 5), (25, 5)),
    add((32, 32, 16)),
    softmax(12),
]


def _mobilenet(first: Layer) -> list[Layer]:
    """Return MobileNetV1 of width 0.25 for 96 x 96 pixels, two classes."""
    layers = [first]
    size, channels = 48, 8
    for stride, wider in [(1, 2), (2, 2), (1, 1), (2, 2), (1, 1), (2, 2), *[(1, 1)] * 5, (2, 2), (1, 1)]:
        layers.append(depthwise((size, size, channels), stride=(stride, stride)))
        size //= stride
        layers.append(conv((size, size, channels), channels * wider, (1, 1)))
        channels *= wider
    return [*layers, pool("AVERAGE", (3, 3, 256), (3, 3), (3, 3)), fully_connected(256, 2), softmax(2)]


def _residual(shape: Shape, channels: int, stride: int) -> list[Layer]:
    """Return two convolutions and their sum, with a third if the shape changes."""
    height, width, _ = shape
    out = (height // stride, width // stride, channels)
    beside = [conv(shape, channels, (1, 1), (2, 2))] if stride > 1 else []
    return [conv(shape, channels, stride=(stride, stride)), conv(out, channels), *beside, add(out)]


NETWORKS: dict[str, Callable[[], list[Layer]]] = {
    "image classification (ResNet-8)": lambda: [
        conv((32, 32, 3), 16),
        *_residual((32, 32, 16), 16, 1),
        *_residual((32, 32, 16), 32, 2),
        *_residual((16, 16, 32), 64, 2),
        pool("AVERAGE", (8, 8, 64), (8, 8), (8, 8)),
        fully_connected(64, 10),
        softmax(10),
    ],
    "keyword spotting (DS-CNN)": lambda: [
        conv((49, 10, 1), 64, (10, 4), (2, 2)),
        *[depthwise((25, 5, 64)), conv((25, 5, 64), 64, (1, 1))] * 4,
        pool("AVERAGE", (25, 5, 64), (25, 5), (25, 5)),
        fully_connected(64, 12),
        softmax(12),
    ],
    "visual wake words (MobileNetV1 0.25, 96x96)": lambda: _mobilenet(conv((96, 96, 3), 8, stride=(2, 2))),
    "anomaly detection (autoencoder)": lambda: [
        fully_connected(640, 128),
        *[fully_connected(128, 128)] * 3,
        fully_connected(128, 8),
        fully_connected(8, 128),
        *[fully_connected(128, 128)] * 3,
        fully_connected(128, 640),
    ],
    "person_detect": lambda: _mobilenet(one_channel((96, 96), 8, (3, 3), (2, 2))),
    "micro_speech": lambda: [one_channel((49, 40), 8, (10, 8), (2, 2)), fully_connected(4000, 4), softmax(4)],
}
