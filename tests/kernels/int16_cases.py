"""Random operators with int16 activations."""

from collections.abc import Callable
from typing import Any

import int16_models as models
import numpy as np
import one_op_models as ops
import sequence_models
from numpy.typing import NDArray
from one_op_models import Quantisation, window_output

from kernels.case_of_call import case_of
from kernels.elementwise_cases import shapes
from kernels.kernel_descriptors import Case
from kernels.uint8_cases import window_over

_ACTIVATIONS = ("NONE", "NONE", "RELU", "RELU6", "RELU_N1_TO_1")
_Shape = tuple[int, ...]


def int16(rng: np.random.Generator, shape: _Shape) -> NDArray[np.int16]:
    """Return values of all sizes, some at the ends of the range."""
    values = rng.integers(-32768, 32768, shape) >> rng.integers(0, 12)
    return np.where(rng.random(shape) < 0.1, rng.choice([-32768, 32767], shape), values).astype(np.int16)


def _scale(rng: np.random.Generator, low: float, high: float) -> float:
    """Return a scale, sometimes a power of two.

    With it, many scaled values are halfway between integers.
    """
    value = float(np.exp(rng.uniform(np.log(low), np.log(high))))
    return 2.0 ** round(np.log2(value)) if rng.random() < 0.4 else float(np.float32(value))


def _weights(rng: np.random.Generator, shape: _Shape) -> NDArray[np.int8]:
    return rng.integers(-127, 128, shape, dtype=np.int8)


def _bias(rng: np.random.Generator, channels: int) -> NDArray[np.int64]:
    most = int(rng.choice([10**5, 10**8, 10**11]))
    return rng.integers(-most, most, channels, dtype=np.int64)


def _scales(rng: np.random.Generator, channels: int) -> list[float]:
    return [_scale(rng, 0.001, 0.02) for _ in range(channels if rng.random() < 0.7 else 1)]


def _target(rng: np.random.Generator, source: float, scales: list[float], taps: int) -> float:
    return float(np.float32(source * np.mean(scales) * 74 * 3 * np.sqrt(taps) * rng.uniform(0.2, 2)))


def _convolution(kind: str, rng: np.random.Generator, weights: NDArray[np.int8], shape: Any, options: Any) -> Case:
    channels = weights.shape[3 if kind.startswith("D") else 0]
    source, scales = _scale(rng, 1e-5, 1e-2), _scales(rng, channels)
    target = _target(rng, source, scales, weights.size // channels)
    bias = None if kind != "CONV_2D" and rng.random() < 0.1 else _bias(rng, channels)
    model = models.convolution(
        kind, shape, weights, bias, scales, Quantisation(source), Quantisation(target), **options
    )
    name = f"int16 {kind} {shape} by {weights.shape} {options}"
    return case_of(name, model, [int16(rng, (1, *shape))])


def conv_2d(rng: np.random.Generator, shape: Any = None, channels: int = 0, window: Any = None, **options: Any) -> Case:
    shape, window, options = window_over(rng, shape, window, options, 24)
    weights = _weights(rng, (channels or int(rng.integers(1, 12)), *window, shape[2]))
    return _convolution("CONV_2D", rng, weights, shape, options)


def depthwise_conv_2d(
    rng: np.random.Generator, shape: Any = None, multiplier: int = 0, window: Any = None, **options: Any
) -> Case:
    shape, window, options = window_over(rng, shape, window, options, 20)
    weights = _weights(rng, (1, *window, shape[2] * (multiplier or int(rng.choice([1, 1, 2, 3])))))
    return _convolution("DEPTHWISE_CONV_2D", rng, weights, shape, options)


def fully_connected(rng: np.random.Generator, rows: int = 0, inputs: int = 0, outputs: int = 0) -> Case:
    rows, inputs = rows or int(rng.integers(1, 4)), inputs or int(rng.integers(1, 200))
    outputs = outputs or int(rng.integers(1, 24))
    source, scales = _scale(rng, 1e-5, 1e-2), _scales(rng, outputs)
    target, activation = _target(rng, source, scales, inputs), str(rng.choice(_ACTIVATIONS))
    weights, bias = _weights(rng, (outputs, inputs)), _bias(rng, outputs)
    ends = Quantisation(source), Quantisation(target)
    model = models.fully_connected(rows, weights, bias, scales, *ends, activation)
    return case_of(f"int16 fully connected {rows}x{inputs}->{outputs}", model, [int16(rng, (rows, inputs))])


def _elementwise(kind: str, rng: np.random.Generator, shape: Any, powers: float) -> Case:
    shape, other = (shape, shape) if shape else shapes(rng)
    a, b = _scale(rng, 1e-5, 1e-3), _scale(rng, 1e-5, 1e-3)
    made = float(np.float32(powers * (a * b * 32768 if kind == "MUL" else max(a, b)) * rng.uniform(0.3, 3)))
    activation = str(rng.choice(_ACTIVATIONS))
    values = [int16(rng, shape), int16(rng, other)]
    constant = values.pop() if rng.random() < 0.2 else None
    ends = [Quantisation(each) for each in (a, b, made)]
    model = models.binary(kind, (shape, other), ends, activation, (None, constant))
    return case_of(f"int16 {kind} {shape} {other} {activation}", model, values)


def sum_(rng: np.random.Generator, shape: Any = None) -> Case:
    return _elementwise("ADD" if rng.random() < 0.5 else "SUB", rng, shape, 1.0)


def mul(rng: np.random.Generator, shape: Any = None) -> Case:
    return _elementwise("MUL", rng, shape, float(10 ** rng.uniform(-2, 2)))


def pool(kind: str) -> Callable[..., Case]:
    def case(rng: np.random.Generator, shape: Any = None, window: Any = None, **options: Any) -> Case:
        shape, window, options = window_over(rng, shape, window, options, 30, dilated=False)
        scale = _scale(rng, 1e-5, 1e-2)
        model = models.pool_2d(kind, shape, window, quantisation=Quantisation(scale), **options)
        return case_of(f"int16 {kind} pool {shape} {window} {options}", model, [int16(rng, (1, *shape))])

    return case


def function(kind: str) -> Callable[..., Case]:
    def case(rng: np.random.Generator, elements: int = 0) -> Case:
        elements = elements or int(rng.integers(1, 400))
        scale = 2.0 ** int(rng.integers(-16, -8)) if rng.random() < 0.5 else _scale(rng, 1e-6, 1e-1)
        model = models.unary(kind, (1, elements), Quantisation(scale), Quantisation(2.0**-15))
        return case_of(f"int16 {kind} {elements} scale {scale}", model, [int16(rng, (1, elements))])

    return case


def leaky_relu(rng: np.random.Generator, elements: int = 0) -> Case:
    elements = elements or int(rng.integers(1, 400))
    alpha = float(rng.choice([rng.uniform(0, 1), rng.uniform(-1, 2), 0.0, 0.5]))
    ends = [Quantisation(_scale(rng, 1e-5, 1e-2)) for _ in range(2)]
    model = models.unary("LEAKY_RELU", (1, elements), *ends, alpha=alpha)
    return case_of(f"int16 leaky relu {elements} alpha {alpha}", model, [int16(rng, (1, elements))])


def transpose_conv(rng: np.random.Generator) -> Case:
    """Return a transposed convolution, some with strides larger than the window."""
    height, width = (int(size) for size in rng.integers(1, 6, 2))
    channels, depth = int(rng.integers(1, 9)), int(rng.integers(1, 20))
    output = (int(rng.integers(height, 14)), int(rng.integers(width, 14)), channels)
    source, scales = _scale(rng, 1e-5, 1e-2), _scales(rng, channels)
    target = _target(rng, source, scales, height * width * depth)
    stride = (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    weights, bias = _weights(rng, (channels, height, width, depth)), _bias(rng, channels)
    padding = str(rng.choice(["SAME", "VALID"]))
    sizes = [window_output(output[axis], (height, width)[axis], stride[axis], 1, padding)[0] for axis in (0, 1)]
    model = sequence_models.transpose_conv(
        output,
        weights,
        None if rng.random() < 0.2 else bias,
        scales,
        Quantisation(source),
        Quantisation(target),
        stride,
        padding,
        str(rng.choice(_ACTIVATIONS)),
        np.int16,
    )
    values = int16(rng, (1, *sizes, depth))
    return case_of(f"int16 transposed conv {values.shape} to {output} {weights.shape} {stride}", model, [values])


def softmax(rng: np.random.Generator, rows: int = 0, depth: int = 0) -> Case:
    rows, depth = rows or int(rng.integers(1, 8)), depth or int(rng.integers(1, 80))
    scale, beta = _scale(rng, 1e-5, 1e-2), float(np.float32(rng.uniform(0.5, 2)))
    model = models.softmax(rows, depth, scale, beta=beta)
    return case_of(f"int16 softmax {rows}x{depth} scale {scale} {beta}", model, [int16(rng, (rows, depth))])


def quantize(rng: np.random.Generator, elements: int = 0) -> Case:
    elements, scale = elements or int(rng.integers(1, 200)), _scale(rng, 1e-5, 1e-2)
    values = rng.normal(0, 20_000 * scale, (1, elements)).astype(np.float32)
    if rng.random() < 0.5:  # All values are halfway between steps.
        values = ((rng.integers(-70_000, 70_000, (1, elements)) + 0.5) * np.float32(scale)).astype(np.float32)
    model = ops.quantize((1, elements), np.float32, np.int16, None, Quantisation(scale))
    return case_of(f"float32 to int16 {elements}", model, [values])


def dequantize(rng: np.random.Generator, elements: int = 0) -> Case:
    elements = elements or int(rng.integers(1, 200))
    model = ops.quantize((1, elements), np.int16, np.float32, Quantisation(_scale(rng, 1e-5, 1e-2)), None)
    return case_of(f"int16 to float32 {elements}", model, [int16(rng, (1, elements))])


def requantize(rng: np.random.Generator, elements: int = 0) -> Case:
    elements = elements or int(rng.integers(1, 200))
    pairs: list[tuple[type[np.signedinteger[Any] | np.unsignedinteger[Any]], type[np.signedinteger[Any]]]]
    pairs = [(np.int16, np.int16), (np.int8, np.int16), (np.uint8, np.int16), (np.int16, np.int8)]
    pairs += [(np.int32, np.int16), (np.int32, np.int8)]
    source, target = pairs[int(rng.integers(len(pairs)))]
    given, made = (_of_type(rng, dtype) for dtype in (source, target))
    limits = np.iinfo(source)
    values = rng.integers(limits.min, limits.max + 1, (1, elements)).astype(source)
    # Sums of products, and numbers at the ends of the range.
    values = np.where(rng.random(values.shape) < 0.8, values >> 16, values) if source is np.int32 else values
    model = ops.quantize((1, elements), source, target, given, made)
    return case_of(f"{source.__name__} to {target.__name__} {elements}", model, [values])


def _of_type(rng: np.random.Generator, dtype: type[np.generic]) -> Quantisation:
    if dtype is np.int16:
        return Quantisation(_scale(rng, 1e-4, 1e-3))
    low = 0 if dtype is np.uint8 else -128
    return Quantisation(_scale(rng, 1e-2, 1e-1), int(rng.integers(low, low + 256)))


CASES: dict[str, Callable[[np.random.Generator], Case]] = {
    "conv_2d_int16": conv_2d,
    "depthwise_conv_2d_int16": depthwise_conv_2d,
    "fully_connected_int16": fully_connected,
    "sum_int16": sum_,
    "mul_int16": mul,
    "max_pool_2d_int16": pool("MAX"),
    "average_pool_2d_int16": pool("AVERAGE"),
    "logistic_int16": function("LOGISTIC"),
    "tanh_int16": function("TANH"),
    "softmax_int16": softmax,
    "leaky_relu_int16": leaky_relu,
    "transpose_conv_int16": transpose_conv,
    "quantize_int16": quantize,
    "dequantize_int16": dequantize,
    "requantize_int16": requantize,
}
