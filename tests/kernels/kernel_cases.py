"""Random operators, each as a kernel's descriptor and as a .tflite model."""

import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import one_op_models
from numpy.typing import NDArray
from one_op_models import Quantisation, window_output

from kernels import choosing_cases, elementwise_cases, int16_cases, movement_cases, sequence_cases, uint8_cases
from kernels.case_of_call import case_of
from kernels.kernel_descriptors import Case, Output, Shape, Window

INT8_MIN, INT8_MAX = -128, 127
_LIMITS = {"NONE": (-math.inf, math.inf), "RELU": (0.0, math.inf), "RELU6": (0.0, 6.0), "RELU_N1_TO_1": (-1.0, 1.0)}


def multiplier_and_shift(real: float) -> tuple[int, int]:
    """Return (multiplier, shift) with real = multiplier * 2^(shift - 31).

    The multiplier is in Q31.
    """
    mantissa, shift = math.frexp(real)
    multiplier = math.floor(mantissa * 2**31 + 0.5)
    if multiplier == 2**31:
        return 2**30, shift + 1
    return (0, 0) if shift < -31 else (multiplier, shift)


def output_range(quantisation: Quantisation, activation: str) -> ctypes.Structure:
    low, high = _LIMITS[activation]
    scale = np.float32(quantisation.per_tensor)

    def bound(real: float, otherwise: int) -> int:
        if math.isinf(real):
            return otherwise
        return quantisation.zero_point + int(
            np.floor(np.abs(np.float32(real) / scale) + np.float32(0.5)) * np.sign(real)
        )

    return Output(quantisation.zero_point, max(INT8_MIN, bound(low, INT8_MIN)), min(INT8_MAX, bound(high, INT8_MAX)))


def _int8(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.int8]:
    return rng.integers(INT8_MIN, INT8_MAX + 1, shape, dtype=np.int8)


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
    typical = math.sqrt(taps) * 74 * 74 * _float_scale(source) * 0.01
    return Quantisation(_scale(typical * 4 / 255 / scale_gain, binary), int(rng.integers(-60, 60)))


def _real_scales(input_scale: float, weight_scales: Sequence[float], output_scale: float, channels: int) -> list[float]:
    """Return a scale for each channel, in the precision of the reference.

    This is double, from float32 scales.
    """
    scales = weight_scales if len(weight_scales) == channels else [weight_scales[0]] * channels
    return [input_scale * scale / output_scale for scale in scales]


def _scaling(
    input_scale: float, weight_scales: Sequence[float], output_scale: float, channels: int
) -> dict[str, NDArray[np.int32]]:
    pairs = [multiplier_and_shift(real) for real in _real_scales(input_scale, weight_scales, output_scale, channels)]
    return {
        "multiplier": np.array([m for m, _ in pairs], np.int32),
        "shift": np.array([s for _, s in pairs], np.int32),
    }


def _float_scale(quantisation: Quantisation) -> float:
    assert isinstance(quantisation.scale, float)
    return quantisation.scale


def conv_2d(
    rng: np.random.Generator,
    in_shape: tuple[int, int, int],
    channels: int,
    window: tuple[int, int] = (3, 3),
    stride: tuple[int, int] = (1, 1),
    dilation: tuple[int, int] = (1, 1),
    padding: str = "SAME",
    activation: str = "NONE",
    per_channel: bool = True,
    scale_gain: float = 1.0,
    binary: bool = False,
) -> Case:
    height, width, in_channels = in_shape
    values = _int8(rng, (1, *in_shape))
    weights = rng.integers(-127, 128, (channels, *window, in_channels), dtype=np.int8)
    bias = rng.integers(-3000, 3000, channels, dtype=np.int32)
    source = _quantisation(rng, binary)
    scales = _weight_scales(rng, channels if per_channel else 1, binary)
    taps = window[0] * window[1] * in_channels
    target = _output_for(rng, source, taps, scale_gain, binary)
    out_h, top = window_output(height, window[0], stride[0], dilation[0], padding)
    out_w, left = window_output(width, window[1], stride[1], dilation[1], padding)
    folded = bias - source.zero_point * weights.astype(np.int32).sum(axis=(1, 2, 3), dtype=np.int32)
    return Case(
        name=f"conv {in_shape}->{channels} window {window} stride {stride} dilation {dilation} {padding} {activation}",
        kernel="conv_2d",
        values={
            "in": Shape(*in_shape),
            "out": Shape(out_h, out_w, channels),
            "window": Window(*window, *stride, *dilation, top, left),
            "input_zero_point": source.zero_point,
            "range": output_range(target, activation),
        },
        buffers={
            "input": values,
            "weights": weights,
            "bias": folded.astype(np.int32),
            **_scaling(_float_scale(source), scales, _float_scale(target), channels),
        },
        output=((1, out_h, out_w, channels), np.int8),
        scratch=2 * (-(-taps // 16) * 16),
        model=one_op_models.conv_2d(
            in_shape, weights, bias, scales, source, target, stride, dilation, padding, activation
        ),
        inputs=[values],
        work=out_h * out_w * channels * taps,
    )


def depthwise_conv_2d(
    rng: np.random.Generator,
    in_shape: tuple[int, int, int],
    depth_multiplier: int = 1,
    window: tuple[int, int] = (3, 3),
    stride: tuple[int, int] = (1, 1),
    dilation: tuple[int, int] = (1, 1),
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
    height, width, in_channels = in_shape
    channels = in_channels * depth_multiplier
    values = _int8(rng, (1, *in_shape))
    weights = rng.integers(weight_min, 128, (1, *window, channels), dtype=np.int8)
    if extreme:
        values = rng.choice(np.array([-128, -128, 127], np.int8), values.shape)
        weights = rng.choice(np.array([weight_min, weight_min, 127], np.int8), weights.shape)
    bias = rng.integers(-3000, 3000, channels, dtype=np.int32)
    source = _quantisation(rng, binary)
    scales = _weight_scales(rng, channels, binary)
    taps = window[0] * window[1]
    target = _output_for(rng, source, taps, scale_gain, binary)
    out_h, top = window_output(height, window[0], stride[0], dilation[0], padding)
    out_w, left = window_output(width, window[1], stride[1], dilation[1], padding)
    folded = bias - source.zero_point * weights[0].astype(np.int32).sum(axis=(0, 1), dtype=np.int32)
    return Case(
        name=f"depthwise {in_shape}x{depth_multiplier} window {window} stride {stride} dilation {dilation} {padding} "
        f"{activation}",
        kernel="depthwise_conv_2d",
        values={
            "in": Shape(*in_shape),
            "out": Shape(out_h, out_w, channels),
            "window": Window(*window, *stride, *dilation, top, left),
            "depth_multiplier": depth_multiplier,
            "input_zero_point": source.zero_point,
            "range": output_range(target, activation),
        },
        buffers={
            "input": values,
            "weights": weights,
            "bias": folded.astype(np.int32),
            **_scaling(_float_scale(source), scales, _float_scale(target), channels),
        },
        output=((1, out_h, out_w, channels), np.int8),
        scratch=depthwise_scratch((out_h, out_w), window, stride, dilation),
        model=one_op_models.depthwise_conv_2d(
            in_shape, weights, bias, scales, source, target, stride, dilation, padding, activation
        ),
        inputs=[values],
        work=out_h * out_w * channels * taps,
    )


def depthwise_scratch(
    out: tuple[int, int], window: tuple[int, int], stride: tuple[int, int], dilation: tuple[int, int]
) -> int:
    """Return N6K_DEPTHWISE_CONV_2D_SCRATCH.

    Args:
        out: Height and width of the output.
    """
    rows, columns = (
        (size - 1) * step + (taps - 1) * apart + 1
        for size, step, taps, apart in zip((min(out[0], 4), min(out[1], 64)), stride, window, dilation, strict=True)
    )
    return 16 * rows * columns + 40 * window[0] * window[1] + 32


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
    values = _int8(rng, (rows, inputs))
    weights = rng.integers(-127, 128, (outputs, inputs), dtype=np.int8)
    bias = rng.integers(-3000, 3000, outputs, dtype=np.int32)
    source = _quantisation(rng, binary)
    scales = _weight_scales(rng, outputs if per_channel else 1, binary)
    target = _output_for(rng, source, inputs, scale_gain, binary)
    folded = bias - source.zero_point * weights.astype(np.int32).sum(axis=1, dtype=np.int32)
    real = _real_scales(_float_scale(source), scales, _float_scale(target), len(scales))
    return Case(
        name=f"fully connected {rows}x{inputs}->{outputs} {activation} {'per channel' if per_channel else ''}",
        kernel="fully_connected",
        values={
            "scales": len(real),
            "batches": rows,
            "inputs": inputs,
            "outputs": outputs,
            "range": output_range(target, activation),
        },
        buffers={
            "input": values,
            "weights": weights,
            "bias": folded.astype(np.int32),
            "scale": np.array(real, np.float64),
        },
        output=((rows, outputs), np.int8),
        model=one_op_models.fully_connected(rows, weights, bias, scales, source, target, activation),
        inputs=[values],
        work=rows * inputs * outputs,
    )


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
    real = _float_scale(source) * scales[0] / _float_scale(target)
    halves = np.round((rng.integers(-126, 126, channels) + 0.5) / real) + rng.integers(-1, 2, channels)
    bias = np.clip(halves, -(2**31) + 1, 2**31 - 1).astype(np.int32)
    inputs = channels if kernel == "depthwise_conv_2d" else 4
    values = np.zeros((1, inputs) if kernel == "fully_connected" else (1, 1, 1, inputs), np.int8)
    shape = {
        "conv_2d": (channels, 1, 1, inputs),
        "depthwise_conv_2d": (1, 1, 1, channels),
        "fully_connected": (channels, inputs),
    }[kernel]
    weights = np.zeros(shape, np.int8)
    window = {
        "in": Shape(1, 1, inputs),
        "out": Shape(1, 1, channels),
        "window": Window(1, 1, 1, 1, 1, 1, 0, 0),
        "input_zero_point": 0,
        "range": output_range(target, "NONE"),
    }
    scaling: dict[str, NDArray[np.generic]] = {**_scaling(_float_scale(source), scales, _float_scale(target), channels)}
    if kernel == "conv_2d":
        fields: dict[str, object] = window
        model = one_op_models.conv_2d((1, 1, inputs), weights, bias, scales, source, target)
    elif kernel == "depthwise_conv_2d":
        fields = {**window, "depth_multiplier": 1}
        model = one_op_models.depthwise_conv_2d((1, 1, inputs), weights, bias, scales, source, target)
    else:
        fields = {
            "scales": len(scales),
            "batches": 1,
            "inputs": inputs,
            "outputs": channels,
            "range": output_range(target, "NONE"),
        }
        scaling["scale"] = np.full(len(scales), real)
        model = one_op_models.fully_connected(1, weights, bias, scales, source, target)
    return Case(
        name=f"{kernel} next to halves, scale {real:g}",
        kernel=kernel,
        values=fields,
        buffers={"input": values, "weights": weights, "bias": bias, **scaling},
        output=((channels,), np.int8),
        scratch={"conv_2d": 32, "depthwise_conv_2d": depthwise_scratch((1, 1), (1, 1), (1, 1), (1, 1))}.get(kernel, 0),
        model=model,
        inputs=[values],
        work=channels,
    )


def add(
    rng: np.random.Generator,
    shape: tuple[int, ...],
    activation: str = "NONE",
    single_b: bool = False,
    binary: bool = False,
) -> Case:
    a, b = _quantisation(rng, binary), _quantisation(rng, binary)
    shape_b = (1,) * len(shape) if single_b else shape
    scales = _float_scale(a) + _float_scale(b)
    target = Quantisation(_scale(scales * rng.uniform(0.3, 3), binary), int(rng.integers(-128, 128)))
    model = one_op_models.add(shape, shape_b, a, b, target, activation)
    return case_of(f"add {shape} + {shape_b} {activation}", model, [_int8(rng, shape), _int8(rng, shape_b)])


def add_of_every_pair(rng: np.random.Generator, binary: bool) -> Case:
    """Return an addition of all 65,536 pairs of elements."""
    case = add(rng, (256, 256), binary=binary)
    every = np.arange(INT8_MIN, INT8_MAX + 1).astype(np.int8)
    first, second = np.repeat(every[:, None], 256, 1), np.repeat(every[None, :], 256, 0)
    return replace(case, buffers={"a": first, "b": second}, inputs=[first, second])


def pad(
    rng: np.random.Generator,
    in_shape: tuple[int, int, int],
    paddings: Sequence[tuple[int, int]],
    value: int | None = None,
) -> Case:
    """Return a padding.

    Args:
        paddings: (before, after) of height, width and channels.
    """
    quantisation = _quantisation(rng)
    values = _int8(rng, (1, *in_shape))
    out = [size + sum(both) for size, both in zip(in_shape, paddings, strict=True)]
    return Case(
        name=f"pad {in_shape} by {list(paddings)} with {value}",
        kernel="pad",
        values={
            "in": Shape(*in_shape),
            "out": Shape(*out),
            "pad_top": paddings[0][0],
            "pad_left": paddings[1][0],
            "pad_front": paddings[2][0],
            "value": quantisation.zero_point if value is None else value,
        },
        buffers={"input": values},
        output=((1, *out), np.int8),
        model=one_op_models.pad((1, *in_shape), [(0, 0), *paddings], quantisation, value),
        inputs=[values],
        work=int(np.prod(out)),
    )


def pool_2d(
    rng: np.random.Generator,
    kind: str,
    in_shape: tuple[int, int, int],
    window: tuple[int, int] = (2, 2),
    stride: tuple[int, int] = (2, 2),
    padding: str = "SAME",
    activation: str = "NONE",
    value: int | None = None,
) -> Case:
    """Return a pooling.

    Args:
        kind: MAX or AVERAGE.
        value: The value of every input element; random values if None.
    """
    height, width, channels = in_shape
    quantisation = _quantisation(rng)
    values = _int8(rng, (1, *in_shape))
    if value is not None:
        values[:] = value
    out_h, top = window_output(height, window[0], stride[0], 1, padding)
    out_w, left = window_output(width, window[1], stride[1], 1, padding)
    return Case(
        name=f"{kind} pool {in_shape} window {window} stride {stride} {padding} {activation}",
        kernel={"MAX": "max_pool_2d", "AVERAGE": "average_pool_2d"}[kind],
        values={
            "in": Shape(*in_shape),
            "out": Shape(out_h, out_w, channels),
            "window": Window(*window, *stride, 1, 1, top, left),
            "range": output_range(quantisation, activation),
        },
        buffers={"input": values},
        output=((1, out_h, out_w, channels), np.int8),
        model=one_op_models.pool_2d(kind, in_shape, window, stride, quantisation, padding, activation),
        inputs=[values],
        work=out_h * out_w * channels * window[0] * window[1],
    )


def softmax(rng: np.random.Generator, rows: int, depth: int, scale: float, beta: float = 1.0) -> Case:
    integer_bits = 5
    real = min(float(np.float32(beta)) * float(np.float32(scale)) * 2 ** (31 - integer_bits), 2**31 - 1)
    multiplier, left_shift = multiplier_and_shift(real)
    radius = math.floor((2**integer_bits - 1) * 2 ** (31 - integer_bits) / 2**left_shift)
    values = _int8(rng, (rows, depth))
    return Case(
        name=f"softmax {rows}x{depth} scale {scale} beta {beta}",
        kernel="softmax",
        values={
            "rows": rows,
            "depth": depth,
            "multiplier": multiplier,
            "left_shift": left_shift,
            "diff_min": -radius,
        },
        buffers={"input": values},
        output=((rows, depth), np.int8),
        model=one_op_models.softmax(rows, depth, float(np.float32(scale)), 3, beta),
        inputs=[values],
        work=rows * depth,
    )


def _eight_bit(rng: np.random.Generator, unsigned: bool, elements: int) -> tuple[NDArray[np.generic], Quantisation]:
    low = 0 if unsigned else INT8_MIN
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
        target = Quantisation(float(np.float32(_float_scale(source) / ratio)), target.zero_point)
    multiplier, shift = multiplier_and_shift(_float_scale(source) / _float_scale(target))
    dtype = np.uint8 if to_unsigned else np.int8
    return Case(
        name=f"requantize {elements} {values.dtype}->{np.dtype(dtype)} ratio {ratio}",
        kernel="requantize",
        values={
            "elements": elements,
            "multiplier": multiplier,
            "shift": shift,
            "in_zero_point": source.zero_point,
            "out_zero_point": target.zero_point,
            "in_is_unsigned": int(from_unsigned),
            "out_is_unsigned": int(to_unsigned),
        },
        buffers={"input": values},
        output=((elements,), dtype),
        model=one_op_models.quantize((elements,), values.dtype.type, dtype, source, target),
        inputs=[values],
        work=elements,
    )


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
        values = (rng.normal(size=elements) * 100 * _float_scale(target)).astype(np.float32)
    dtype = np.uint8 if to_unsigned else np.int8
    return Case(
        name=f"quantize {elements} to {np.dtype(dtype)}{' halves' if halves else ''}",
        kernel="quantize",
        values={
            "elements": elements,
            "scale": _float_scale(target),
            "zero_point": target.zero_point,
            "out_is_unsigned": int(to_unsigned),
        },
        buffers={"input": values},
        output=((elements,), dtype),
        model=one_op_models.quantize((elements,), np.float32, dtype, None, target),
        inputs=[values],
        work=elements,
    )


def dequantize(rng: np.random.Generator, elements: int, from_unsigned: bool) -> Case:
    values, source = _eight_bit(rng, from_unsigned, elements)
    return Case(
        name=f"dequantize {elements} {values.dtype}",
        kernel="dequantize",
        values={
            "elements": elements,
            "scale": _float_scale(source),
            "zero_point": source.zero_point,
            "in_is_unsigned": int(from_unsigned),
        },
        buffers={"input": values},
        output=((elements,), np.float32),
        model=one_op_models.dequantize((elements,), values.dtype.type, source),
        inputs=[values],
        work=elements,
    )


def copy(rng: np.random.Generator, size: int) -> Case:
    values = _int8(rng, (size,))
    return Case(
        name=f"copy {size}",
        kernel="copy",
        values={"bytes": size},
        buffers={"input": values},
        output=((size,), np.int8),
        model=one_op_models.reshape((size,), (1, size), Quantisation(0.5, 1)),
        inputs=[values],
        work=size,
    )


_Choice = TypeVar("_Choice")


def _one_of(rng: np.random.Generator, choices: Sequence[_Choice]) -> _Choice:
    return choices[int(rng.integers(len(choices)))]


@dataclass(frozen=True)
class _Sliding:
    window: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]
    padding: str

    def least(self, dimension: int) -> int:
        """Return the smallest input that the window fits in."""
        return (self.window[dimension] - 1) * self.dilation[dimension] + 1


def _random_sliding(rng: np.random.Generator, dilated: bool = False) -> _Sliding:
    def pair(largest: int) -> tuple[int, int]:
        return int(rng.integers(1, largest + 1)), int(rng.integers(1, largest + 1))

    window = (1, 1) if rng.random() < 0.15 else pair(5)
    padding = _one_of(rng, ("SAME", "VALID"))
    return _Sliding(window, (1, 1), pair(3), padding) if dilated else _Sliding(window, pair(3), (1, 1), padding)


def _random_input(rng: np.random.Generator, sliding: _Sliding, channels: int) -> tuple[int, int, int]:
    return sliding.least(0) + int(rng.integers(6)), sliding.least(1) + int(rng.integers(6)), channels


def random_case(kernel: str, rng: np.random.Generator) -> Case:  # noqa: PLR0911
    """Return any operator that the kernel's descriptor can express.

    It is small enough to be quick.
    """
    elements = int(rng.integers(1, 100))
    flag, other, rare = (bool(chance) for chance in rng.random(3) < (0.5, 0.5, 0.25))
    activation = _one_of(rng, ("NONE", "NONE", "RELU", "RELU6", "RELU_N1_TO_1"))
    gain = _one_of(rng, (1.0, 1.0, 1.0, 60.0, 3000.0))
    sliding = _random_sliding(rng, rare and "conv" in kernel)
    windowed: dict[str, Any] = {"window": sliding.window, "stride": sliding.stride, "dilation": sliding.dilation}
    common: dict[str, Any] = {"padding": sliding.padding, "activation": activation}
    match kernel:
        case "conv_2d":
            shape = _random_input(rng, sliding, _one_of(rng, (1, 2, 3, 4, 7, 8, 16, 17, 40)))
            channels = int(rng.integers(1, 12) if flag else rng.integers(1, 120))
            return conv_2d(rng, shape, channels, **windowed, **common, per_channel=flag, scale_gain=gain, binary=other)
        case "depthwise_conv_2d":
            multiplier = _one_of(rng, (1, 1, 1, 2, 3, 8))
            shape = _random_input(rng, sliding, int(rng.integers(1, 40)))
            return depthwise_conv_2d(
                rng,
                shape,
                multiplier,
                **windowed,
                **common,
                weight_min=_one_of(rng, (-128, -127)),
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
            return requantize(rng, elements, flag, other, _one_of(rng, (None, None, 1.0, 0.5, 2.0, 100.0)))
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
