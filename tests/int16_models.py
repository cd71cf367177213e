"""Models of one operator with int16 activations.

Zero points are 0, weights int8 and biases int64, as converters write them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from numpy.typing import NDArray
from one_op_models import _ACTIVATIONS, Quantisation, Tensor, window_output, write_model

_CODE, _OPTIONS = schema.BuiltinOperator, schema.BuiltinOptions


def _bias(bias: NDArray[np.int64], source: float, scales: Sequence[float]) -> Tensor:
    return Tensor("bias", bias.shape, np.int64, Quantisation([source * scale for scale in scales]), bias)


def _padding(name: str) -> int:
    return int(getattr(schema.Padding, name))


def convolution(
    kind: str,
    shape: tuple[int, int, int],
    weights: NDArray[np.int8],
    bias: NDArray[np.int64] | None,
    scales: Sequence[float],
    source: float,
    target: float,
    stride: tuple[int, int] = (1, 1),
    dilation: tuple[int, int] = (1, 1),
    padding: str = "SAME",
    activation: str = "NONE",
) -> bytes:
    """Return a model of a convolution.

    Args:
        kind: CONV_2D or DEPTHWISE_CONV_2D; the scales of its weights are along dimension 0 or 3.
    """
    deep = kind == "DEPTHWISE_CONV_2D"
    options: Any = schema.DepthwiseConv2DOptionsT() if deep else schema.Conv2DOptionsT()
    options.padding = _padding(padding)
    options.strideH, options.strideW = stride
    options.dilationHFactor, options.dilationWFactor = dilation
    options.fusedActivationFunction = _ACTIVATIONS[activation]
    axis = 3 if deep else 0
    if deep:
        options.depthMultiplier = weights.shape[3] // shape[2]
    out_h, _ = window_output(shape[0], weights.shape[1], stride[0], dilation[0], padding)
    out_w, _ = window_output(shape[1], weights.shape[2], stride[1], dilation[1], padding)
    tensors = [
        Tensor("input", (1, *shape), np.int16, Quantisation(source)),
        Tensor("weights", weights.shape, np.int8, Quantisation(scales, 0, axis), weights),
    ]
    if bias is not None:
        tensors.append(_bias(bias, source, scales))
    tensors.append(Tensor("output", (1, out_h, out_w, weights.shape[axis]), np.int16, Quantisation(target)))
    table = _OPTIONS.DepthwiseConv2DOptions if deep else _OPTIONS.Conv2DOptions
    return write_model(getattr(_CODE, kind), tensors, options, table, 5 if deep else 4)


def fully_connected(
    rows: int,
    weights: NDArray[np.int8],
    bias: NDArray[np.int64],
    scales: Sequence[float],
    source: float,
    target: float,
    activation: str = "NONE",
) -> bytes:
    """Return a model of a fully connected layer.

    Args:
        weights: Array of [output][input].
    """
    options = schema.FullyConnectedOptionsT()
    options.fusedActivationFunction = _ACTIVATIONS[activation]
    outputs, inputs = weights.shape
    tensors = [
        Tensor("input", (rows, inputs), np.int16, Quantisation(source)),
        Tensor("weights", weights.shape, np.int8, Quantisation(scales, 0, 0), weights),
        _bias(bias, source, scales),
        Tensor("output", (rows, outputs), np.int16, Quantisation(target)),
    ]
    return write_model(_CODE.FULLY_CONNECTED, tensors, options, _OPTIONS.FullyConnectedOptions, 9)


def elementwise(
    kind: str,
    shape_a: tuple[int, ...],
    shape_b: tuple[int, ...],
    scales: tuple[float, float, float],
    activation: str = "NONE",
    powers_of_two: bool = False,
    constant: NDArray[np.int16] | None = None,
) -> bytes:
    """Return a model of an elementwise operator.

    Args:
        kind: ADD, SUB or MUL.
        scales: Scales of a, b and the output.
        constant: Values of b; None for an input.
    """
    options: Any = getattr(schema, f"{kind.title()}OptionsT")()
    options.fusedActivationFunction = _ACTIVATIONS[activation]
    if kind != "MUL":
        options.potScaleInt16 = powers_of_two
    shapes = (shape_a, shape_b, np.broadcast_shapes(shape_a, shape_b))
    data = (None, constant, None)
    tensors = [
        Tensor(name, shape, np.int16, Quantisation(scale), values)
        for name, shape, scale, values in zip(("a", "b", "output"), shapes, scales, data, strict=True)
    ]
    version = {"ADD": 4, "SUB": 5, "MUL": 5}[kind]
    return write_model(getattr(_CODE, kind), tensors, options, getattr(_OPTIONS, f"{kind.title()}Options"), version)


def pool_2d(
    kind: str,
    shape: tuple[int, int, int],
    window: tuple[int, int],
    stride: tuple[int, int],
    scale: float,
    padding: str = "SAME",
    activation: str = "NONE",
) -> bytes:
    """Return a model of a pooling.

    Args:
        kind: MAX or AVERAGE.
    """
    options = schema.Pool2DOptionsT()
    options.padding = _padding(padding)
    options.strideH, options.strideW = stride
    options.filterHeight, options.filterWidth = window
    options.fusedActivationFunction = _ACTIVATIONS[activation]
    sizes = [window_output(shape[i], window[i], stride[i], 1, padding)[0] for i in (0, 1)]
    tensors = [
        Tensor("input", (1, *shape), np.int16, Quantisation(scale)),
        Tensor("output", (1, *sizes, shape[2]), np.int16, Quantisation(scale)),
    ]
    return write_model(getattr(_CODE, f"{kind}_POOL_2D"), tensors, options, _OPTIONS.Pool2DOptions, 3)


def function(kind: str, shape: tuple[int, ...], scale: float) -> bytes:
    """Return a model of a function.

    Args:
        kind: LOGISTIC or TANH.
    """
    tensors = [
        Tensor("input", shape, np.int16, Quantisation(scale)),
        Tensor("output", shape, np.int16, Quantisation(2.0**-15)),
    ]
    return write_model(getattr(_CODE, kind), tensors, version=3)


def softmax(rows: int, depth: int, scale: float, beta: float = 1.0) -> bytes:
    options = schema.SoftmaxOptionsT()
    options.beta = beta
    tensors = [
        Tensor("input", (rows, depth), np.int16, Quantisation(scale)),
        Tensor("output", (rows, depth), np.int16, Quantisation(1 / 32768)),
    ]
    return write_model(_CODE.SOFTMAX, tensors, options, _OPTIONS.SoftmaxOptions, 3)


def quantize(
    shape: tuple[int, ...],
    source: type[np.generic],
    target: type[np.generic],
    given: Quantisation | None,
    made: Quantisation | None,
) -> bytes:
    """Return a model of a QUANTIZE, or of a DEQUANTIZE if the target is float32."""
    tensors = [Tensor("input", shape, source, given), Tensor("output", shape, target, made)]
    kind = "Dequantize" if target is np.float32 else "Quantize"
    options = getattr(schema, f"{kind}OptionsT")()
    return write_model(getattr(_CODE, kind.upper()), tensors, options, getattr(_OPTIONS, f"{kind}Options"), 3)
