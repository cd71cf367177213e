"""Random operators of int8, and a random case of any kernel of .tflite models."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import one_op_models
from numpy.typing import NDArray
from one_op_models import Quantisation

from kernels import choosing_cases, elementwise_cases, int16_cases, movement_cases, sequence_cases, uint8_cases
from kernels.case_of_call import case_of
from kernels.draws import int8, one_of
from kernels.kernel_descriptors import Case

Pair = tuple[int, int]
Image = tuple[int, int, int]


def _scale(value: float, binary: bool = False) -> float:
    """Return a float32 scale.

    Args:
        binary: Use the nearest power of two, with which many scaled values are halfway between
            integers.
    """
    return 2.0 ** round(math.log2(value)) if binary else float(np.float32(value))


def _quantisation(rng: np.random.Generator, binary: bool = False) -> Quantisation:
    return Quantisation(_scale(rng.uniform(0.005, 0.2), binary), int(rng.integers(-128, 128)))


def _weight_scales(rng: np.random.Generator, channels: int, binary: bool) -> list[float]:
    return [_scale(s, binary) for s in rng.uniform(0.0005, 0.02, channels)]


def _output_for(
    rng: np.random.Generator, source: Quantisation, taps: int, scale_gain: float, binary: bool
) -> Quantisation:
    """Return a quantisation for sums of `taps` products.

    The sums spread over the int8 range, some of them clamped. scale_gain > 1 raises the scaling of
    the accumulators, so that shifts become zero or positive.
    """
    typical = math.sqrt(taps) * 74 * 74 * source.per_tensor * 0.01
    return Quantisation(_scale(typical * 4 / 255 / scale_gain, binary), int(rng.integers(-60, 60)))


def _bias(rng: np.random.Generator, channels: int) -> NDArray[np.int32]:
    return rng.integers(-3000, 3000, channels, dtype=np.int32)


def conv_2d(
    rng: np.random.Generator,
    shape: Image,
    channels: int,
    window: Pair = (3, 3),
    stride: Pair = (1, 1),
    dilation: Pair = (1, 1),
    padding: str = "SAME",
    activation: str = "NONE",
    per_channel: bool = True,
    scale_gain: float = 1.0,
    binary: bool = False,
) -> Case:
    values = int8(rng, (1, *shape))
    weights = rng.integers(-127, 128, (channels, *window, shape[2]), dtype=np.int8)
    bias, source = _bias(rng, channels), _quantisation(rng, binary)
    scales = _weight_scales(rng, channels if per_channel else 1, binary)
    target = _output_for(rng, source, weights[0].size, scale_gain, binary)
    options = (stride, dilation, padding, activation)
    model = one_op_models.conv_2d(shape, weights, bias, scales, source, target, *options)
    name = f"conv {shape}->{channels} window {window} stride {stride} dilation {dilation} {padding} {activation}"
    return case_of(name, model, [values])


def depthwise_conv_2d(
    rng: np.random.Generator,
    shape: Image,
    depth_multiplier: int = 1,
    window: Pair = (3, 3),
    stride: Pair = (1, 1),
    dilation: Pair = (1, 1),
    padding: str = "SAME",
    activation: str = "NONE",
    weight_min: int = -127,
    extreme: bool = False,
    scale_gain: float = 1.0,
    binary: bool = False,
) -> Case:
    """Return a depthwise convolution.

    Args:
        extreme: Weights and inputs are at the ends of their ranges, so that sums of products are as
            large as possible.
    """
    channels = shape[2] * depth_multiplier
    values = int8(rng, (1, *shape))
    weights = rng.integers(weight_min, 128, (1, *window, channels), dtype=np.int8)
    if extreme:
        values = rng.choice(np.array([-128, -128, 127], np.int8), values.shape)
        weights = rng.choice(np.array([weight_min, weight_min, 127], np.int8), weights.shape)
    bias, source = _bias(rng, channels), _quantisation(rng, binary)
    scales = _weight_scales(rng, channels, binary)
    target = _output_for(rng, source, window[0] * window[1], scale_gain, binary)
    options = (stride, dilation, padding, activation)
    model = one_op_models.depthwise_conv_2d(shape, weights, bias, scales, source, target, *options)
    words = f"{shape}x{depth_multiplier} window {window} stride {stride} dilation {dilation} {padding} {activation}"
    return case_of(f"depthwise {words}", model, [values])


def fully_connected(
    rng: np.random.Generator,
    rows: int,
    inputs: int,
    outputs: int,
    activation: str = "NONE",
    per_channel: bool = False,
    scale_gain: float = 1.0,
    binary: bool = False,
) -> Case:
    values = int8(rng, (rows, inputs))
    weights = rng.integers(-127, 128, (outputs, inputs), dtype=np.int8)
    bias, source = _bias(rng, outputs), _quantisation(rng, binary)
    scales = _weight_scales(rng, outputs if per_channel else 1, binary)
    target = _output_for(rng, source, inputs, scale_gain, binary)
    model = one_op_models.fully_connected(rows, weights, bias, scales, source, target, activation)
    name = f"fully connected {rows}x{inputs}->{outputs} {activation} {'per channel' if per_channel else ''}"
    return case_of(name, model, [values])


def accumulators_next_to_halves(kernel: str, rng: np.random.Generator, per_channel: bool) -> Case:
    """Return an operator whose accumulators are its biases, next to halves.

    The scaled accumulators are within one step of n + 1/2.
    """
    channels = 400
    source = Quantisation(_scale(rng.uniform(0.1, 1)), 0)
    target = Quantisation(float(rng.choice([6.0, 10.0, 24.0, 2.0**14, _scale(rng.uniform(10, 3e4))])), 0)
    scales = [_scale(rng.uniform(0.001, 0.01))] * (channels if per_channel else 1)
    if rng.random() < 0.3:
        source, scales = Quantisation(1.0, 0), [1.0] * len(scales)
    real = source.per_tensor * scales[0] / target.per_tensor
    halves = np.round((rng.integers(-126, 126, channels) + 0.5) / real) + rng.integers(-1, 2, channels)
    bias = np.clip(halves, -(2**31) + 1, 2**31 - 1).astype(np.int32)
    inputs = channels if kernel == "depthwise_conv_2d" else 4
    zeros, ends = np.zeros((channels, inputs), np.int8), (bias, scales, source, target)
    if kernel == "fully_connected":
        model = one_op_models.fully_connected(1, zeros, *ends)
    elif kernel == "conv_2d":
        model = one_op_models.conv_2d((1, 1, inputs), zeros.reshape(channels, 1, 1, inputs), *ends)
    else:
        model = one_op_models.depthwise_conv_2d((1, 1, inputs), zeros[:1].reshape(1, 1, 1, channels), *ends)
    values = np.zeros((1, inputs) if kernel == "fully_connected" else (1, 1, 1, inputs), np.int8)
    # The compiler refuses some of these scales.
    case = case_of(f"{kernel} next to halves, scale {real:g}", model, [values], checked=False)
    if kernel == "fully_connected" and per_channel:
        # The compiler joins equal scales.
        buffers = {**case.buffers, "scale": np.full(channels, real)}
        case = replace(case, values={**case.values, "scales": channels}, buffers=buffers)
    return case


def add(
    rng: np.random.Generator,
    shape: tuple[int, ...],
    activation: str = "NONE",
    single_b: bool = False,
    binary: bool = False,
) -> Case:
    a, b = _quantisation(rng, binary), _quantisation(rng, binary)
    shape_b = (1,) * len(shape) if single_b else shape
    scales = a.per_tensor + b.per_tensor
    target = Quantisation(_scale(scales * rng.uniform(0.3, 3), binary), int(rng.integers(-128, 128)))
    model = one_op_models.add(shape, shape_b, a, b, target, activation)
    return case_of(f"add {shape} + {shape_b} {activation}", model, [int8(rng, shape), int8(rng, shape_b)])


def add_of_every_pair(rng: np.random.Generator, binary: bool) -> Case:
    """Return an addition of all 65,536 pairs of elements."""
    case = add(rng, (256, 256), binary=binary)
    every = np.arange(-128, 128).astype(np.int8)
    first, second = np.repeat(every[:, None], 256, 1), np.repeat(every[None, :], 256, 0)
    return replace(case, buffers={"a": first, "b": second}, inputs=[first, second])


def pad(
    rng: np.random.Generator,
    shape: Image,
    paddings: Sequence[Pair],
    value: int | None = None,
) -> Case:
    """Return a padding.

    Args:
        paddings: (before, after) of height, width and channels.
    """
    model = one_op_models.pad((1, *shape), [(0, 0), *paddings], _quantisation(rng), value)
    return case_of(f"pad {shape} by {list(paddings)} with {value}", model, [int8(rng, (1, *shape))])


def pool_2d(
    rng: np.random.Generator,
    kind: str,
    shape: Image,
    window: Pair = (2, 2),
    stride: Pair = (2, 2),
    padding: str = "SAME",
    activation: str = "NONE",
    value: int | None = None,
) -> Case:
    """Return a pooling.

    Args:
        kind: MAX or AVERAGE.
        value: The value of every input element; random values if None.
    """
    model = one_op_models.pool_2d(kind, shape, window, stride, _quantisation(rng), padding, activation)
    values = int8(rng, (1, *shape))
    if value is not None:
        values[:] = value
    case = case_of(f"{kind} pool {shape} window {window} stride {stride} {padding} {activation}", model, [values])
    return replace(case, work=case.work * window[0] * window[1])


def softmax(rng: np.random.Generator, rows: int, depth: int, scale: float, beta: float = 1.0) -> Case:
    model = one_op_models.softmax(rows, depth, float(np.float32(scale)), 3, beta)
    return case_of(f"softmax {rows}x{depth} scale {scale} beta {beta}", model, [int8(rng, (rows, depth))])


def _eight_bit(rng: np.random.Generator, unsigned: bool, elements: int) -> tuple[NDArray[np.generic], Quantisation]:
    low = 0 if unsigned else -128
    dtype = np.uint8 if unsigned else np.int8
    quantisation = Quantisation(float(np.float32(rng.uniform(0.005, 0.2))), int(rng.integers(low, low + 256)))
    return rng.integers(low, low + 256, elements).astype(dtype), quantisation


def requantize(
    rng: np.random.Generator, elements: int, from_unsigned: bool, to_unsigned: bool, ratio: float | None = None
) -> Case:
    """Return a requantisation.

    Args:
        ratio: Input scale / output scale; random if None.
    """
    values, source = _eight_bit(rng, from_unsigned, elements)
    values = np.concatenate([np.arange(256).astype(values.dtype), values])[-elements:]
    _, target = _eight_bit(rng, to_unsigned, 1)
    if ratio is not None:
        target = Quantisation(float(np.float32(source.per_tensor / ratio)), target.zero_point)
    dtype = np.uint8 if to_unsigned else np.int8
    model = one_op_models.quantize((elements,), values.dtype.type, dtype, source, target)
    return case_of(f"requantize {elements} {values.dtype}->{np.dtype(dtype)} ratio {ratio}", model, [values])


def quantize(rng: np.random.Generator, elements: int, to_unsigned: bool, halves: bool = False) -> Case:
    """Return a quantisation of floats.

    Args:
        halves: Use a power-of-two scale, and inputs that are odd multiples of half of it.
    """
    _, target = _eight_bit(rng, to_unsigned, 1)
    if halves:
        target = Quantisation(0.125, target.zero_point)
        values = (rng.integers(-300, 300, elements) * 2 + 1).astype(np.float32) * np.float32(0.0625)
    else:
        values = (rng.normal(size=elements) * 100 * target.per_tensor).astype(np.float32)
    dtype = np.uint8 if to_unsigned else np.int8
    model = one_op_models.quantize((elements,), np.float32, dtype, None, target)
    return case_of(f"quantize {elements} to {np.dtype(dtype)}{' halves' if halves else ''}", model, [values])


def dequantize(rng: np.random.Generator, elements: int, from_unsigned: bool) -> Case:
    values, source = _eight_bit(rng, from_unsigned, elements)
    model = one_op_models.dequantize((elements,), values.dtype.type, source)
    return case_of(f"dequantize {elements} {values.dtype}", model, [values])


def copy(rng: np.random.Generator, size: int) -> Case:
    model = one_op_models.reshape((size,), (1, size), Quantisation(0.5, 1))
    return case_of(f"copy {size}", model, [int8(rng, (size,))])


@dataclass(frozen=True)
class _Sliding:
    window: Pair
    stride: Pair
    dilation: Pair
    padding: str

    def least(self, dimension: int) -> int:
        """Return the smallest input that the window fits in."""
        return (self.window[dimension] - 1) * self.dilation[dimension] + 1


def _random_sliding(rng: np.random.Generator, dilated: bool = False) -> _Sliding:
    def pair(largest: int) -> Pair:
        return int(rng.integers(1, largest + 1)), int(rng.integers(1, largest + 1))

    window = (1, 1) if rng.random() < 0.15 else pair(5)
    padding = one_of(rng, "SAME", "VALID")
    return _Sliding(window, (1, 1), pair(3), padding) if dilated else _Sliding(window, pair(3), (1, 1), padding)


def _random_input(rng: np.random.Generator, sliding: _Sliding, channels: int) -> Image:
    return sliding.least(0) + int(rng.integers(6)), sliding.least(1) + int(rng.integers(6)), channels


def random_case(kernel: str, rng: np.random.Generator) -> Case:  # noqa: PLR0911
    """Return any operator that the kernel's descriptor can express.

    It is small enough to be quick.
    """
    elements = int(rng.integers(1, 100))
    flag, other, rare = (bool(chance) for chance in rng.random(3) < (0.5, 0.5, 0.25))
    activation = one_of(rng, "NONE", "NONE", "RELU", "RELU6", "RELU_N1_TO_1")
    gain = one_of(rng, 1.0, 1.0, 1.0, 60.0, 3000.0)
    sliding = _random_sliding(rng, rare and "conv" in kernel)
    windowed: dict[str, Any] = {"window": sliding.window, "stride": sliding.stride, "dilation": sliding.dilation}
    common: dict[str, Any] = {"padding": sliding.padding, "activation": activation}
    match kernel:
        case "conv_2d":
            shape = _random_input(rng, sliding, one_of(rng, 1, 2, 3, 4, 7, 8, 16, 17, 40))
            channels = int(rng.integers(1, 12) if flag else rng.integers(1, 120))
            return conv_2d(rng, shape, channels, **windowed, **common, per_channel=flag, scale_gain=gain, binary=other)
        case "depthwise_conv_2d":
            multiplier = one_of(rng, 1, 1, 1, 2, 3, 8)
            shape = _random_input(rng, sliding, int(rng.integers(1, 40)))
            return depthwise_conv_2d(
                rng,
                shape,
                multiplier,
                **windowed,
                **common,
                weight_min=one_of(rng, -128, -127),
                extreme=flag,
                scale_gain=gain,
                binary=other,
            )
        case "fully_connected":
            inputs, outputs = int(rng.integers(1, 200)), int(rng.integers(1, 24))
            return fully_connected(rng, int(rng.integers(1, 4)), inputs, outputs, activation, flag, gain, other)
        case "add":
            return add(rng, (1, elements, 3), activation, rare, other)
        case "pad":
            paddings = [(int(rng.integers(0, 4)), int(rng.integers(0, 4))) for _ in range(3)]
            if flag:
                paddings[2] = (0, 0)
            shape = (int(rng.integers(1, 6)), int(rng.integers(1, 6)), int(rng.integers(1, 40)))
            return pad(rng, shape, paddings, int(rng.integers(-128, 128)) if other else None)
        case "max_pool_2d" | "average_pool_2d":
            shape = _random_input(rng, sliding, int(rng.integers(1, 40)))
            kind = "MAX" if kernel == "max_pool_2d" else "AVERAGE"
            return pool_2d(rng, kind, shape, sliding.window, sliding.stride, **common)
        case "softmax":
            scale = float(10 ** rng.uniform(-3, 0.3))
            return softmax(rng, int(rng.integers(1, 8)), elements, scale, float(rng.uniform(0.5, 2)))
        case "requantize":
            return requantize(rng, elements, flag, other, one_of(rng, None, None, 1.0, 0.5, 2.0, 100.0))
        case "quantize":
            return quantize(rng, elements, flag, other)
        case "dequantize":
            return dequantize(rng, elements, flag)
        case "copy":
            return copy(rng, elements)
    return _case_of_another_module(kernel, rng, elements, activation, constant="b" if rare else "")


def _case_of_another_module(
    kernel: str, rng: np.random.Generator, elements: int, activation: str, constant: str
) -> Case:
    of_types = {**uint8_cases.CASES, **int16_cases.CASES, **choosing_cases.CASES, **elementwise_cases.FLOAT_CASES}
    if kernel in of_types:
        return of_types[kernel](rng)
    if kernel in ("move", "gather", "resize_bilinear", "resize_bilinear_int16", "resize_bilinear_unsigned", "cast"):
        case: Case = getattr(movement_cases, kernel)(rng)
        return case
    if kernel == "lookup":
        return elementwise_cases.lookup(rng, elements)
    if kernel in ("div", "maximum", "minimum", "mul", "prelu", "squared_difference", "sub"):
        return elementwise_cases.broadcast(rng, kernel.upper(), activation, constant=constant)
    if kernel.endswith("_int32"):
        return elementwise_cases.integers(rng, kernel.removesuffix("_int32").upper())
    return sequence_cases.random_case(kernel, rng)
