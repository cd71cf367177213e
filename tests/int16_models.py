"""Models of one operator with int16 activations.

Zero points are 0, weights int8 and biases int64, as converters write them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import one_op_models as ops
from numpy.typing import NDArray
from one_op_models import Quantisation, Shape, Tensor, write_model


def convolution(
    kind: str,
    shape: tuple[int, int, int],
    weights: NDArray[np.int8],
    bias: NDArray[np.int64] | None,
    scales: Sequence[float],
    source: float,
    target: float,
    **options: Any,
) -> bytes:
    """Return a model of a CONV_2D or DEPTHWISE_CONV_2D."""
    ends = Quantisation(source), Quantisation(target)
    return ops.convolution(kind, shape, weights, bias, scales, *ends, **options, dtype=np.int16)


def fully_connected(
    rows: int,
    weights: NDArray[np.int8],
    bias: NDArray[np.int64],
    scales: Sequence[float],
    source: float,
    target: float,
    activation: str = "NONE",
) -> bytes:
    """Return a model of a fully connected layer."""
    ends = Quantisation(source), Quantisation(target)
    return ops.fully_connected(rows, weights, bias, scales, *ends, activation, np.int16)


def elementwise(
    kind: str,
    shape_a: Shape,
    shape_b: Shape,
    scales: tuple[float, float, float],
    activation: str = "NONE",
    constant: NDArray[np.int16] | None = None,
    **options: Any,
) -> bytes:
    """Return a model of an elementwise operator.

    Args:
        kind: ADD, SUB or MUL.
        scales: Scales of a, b and the output.
        constant: Values of b; None for an input.
    """
    if kind != "MUL":
        options = {"potScaleInt16": False, **options}
    shapes = (shape_a, shape_b, np.broadcast_shapes(shape_a, shape_b))
    tensors = [
        Tensor(name, shape, np.int16, Quantisation(scale), constant if name == "b" else None)
        for name, shape, scale in zip(("a", "b", "output"), shapes, scales, strict=True)
    ]
    version = 4 if kind == "ADD" else 5
    return write_model(kind, tensors, kind.title(), version, fusedActivationFunction=activation, **options)


def pool_2d(
    kind: str,
    shape: tuple[int, int, int],
    window: tuple[int, int],
    stride: tuple[int, int],
    scale: float,
    padding: str = "SAME",
    activation: str = "NONE",
) -> bytes:
    """Return a model of a pooling of the kind MAX or AVERAGE."""
    return ops.pool_2d(kind, shape, window, stride, Quantisation(scale), padding, activation, np.int16)


def function(kind: str, shape: Shape, scale: float) -> bytes:
    """Return a model of a function.

    Args:
        kind: LOGISTIC or TANH.
    """
    tensors = [
        Tensor("input", shape, np.int16, Quantisation(scale)),
        Tensor("output", shape, np.int16, Quantisation(2.0**-15)),
    ]
    return write_model(kind, tensors, version=3)


def softmax(rows: int, depth: int, scale: float, beta: float = 1.0) -> bytes:
    return ops.softmax(rows, depth, scale, 0, beta, np.int16)


def leaky_relu(shape: Shape, alpha: float, source: float, target: float) -> bytes:
    tensors = [
        Tensor("input", shape, np.int16, Quantisation(source)),
        Tensor("output", shape, np.int16, Quantisation(target)),
    ]
    return write_model("LEAKY_RELU", tensors, "LeakyRelu", 2, alpha=alpha)
