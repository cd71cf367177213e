"""Requantisation of a convolution's sums to int8, and the largest sums.

There are two roundings, as ST's compiler has them: sums >> s1 to 16 bits; times a factor of the
channel, plus a summand of the channel, >> s2 to int8. The reference interpreter rounds elsewhere:
results differ by one now and then.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
_LARGEST = 32767
_INT8_MIN, _INT8_MAX = -128, 127
_LARGEST_UNSIGNED = 255
_LARGEST_SUMMAND = 2**31 - 1
# Largest shift of a multiplied sum that was seen.
_MOST_SHIFTED = 22
_FRACTION_BITS = 14
# Multiply-accumulates that OpenBLAS does in one thread, and the fewest pixels of a piece.
_AT_ONCE, _FEWEST_PIXELS = 1 << 18, 64


@dataclass(frozen=True)
class Requantisation:
    """Shifts and coefficients of a requantisation.

    Attributes:
        first: Shift before the coefficients.
        factors: Factors of the channels, 16 bits.
        summands: Summands of the channels, 32 bits.
        second: Shift behind the coefficients.
    """

    first: int
    factors: tuple[int, ...]
    summands: tuple[int, ...]
    second: int

    @property
    def lost(self) -> float:
        """Return the most steps of the output by which the first shift changes a sum."""
        return max(self.factors) / 2.0**self.second * (1 - 2.0**-self.first) / 2


@dataclass(frozen=True)
class Scales:
    """Scales of a convolution.

    Attributes:
        source: Scale of the input.
        weights: Scales of the weights for each channel.
        target: Scale of the output.
        zero_point: Zero point of the output.
        twice: Whether the reference interpreter rounds twice.
    """

    source: float
    weights: Floats
    target: float
    zero_point: int
    twice: bool = False

    @property
    def real(self) -> Floats:
        """Return the scale of a sum relative to the output's, for each channel."""
        return self.source * self.weights / self.target


def requantisation(largest: Floats, scales: Scales, biases: Floats, *, in_parts: bool) -> Requantisation:
    """Return the requantisation of sums.

    Args:
        largest: Largest magnitude of each channel's sums.
        scales: Scales of the convolution.
        biases: Biases in units of the sums.
        in_parts: Whether sums are added up in memory, where they must not saturate. A whole sum may
            saturate beyond the range of the output.
    """
    needed = np.minimum(largest, _sayable(scales, biases))
    first = excess_bits(float((largest if in_parts else needed).max()))
    real = scales.real * 2.0**first
    offsets = biases * scales.real + scales.zero_point
    if scales.twice and scales.zero_point == _INT8_MIN:
        offsets = offsets + lifted(scales.real)
    # The shift has as many bits as factors, summands and the shift itself have room for.
    second = min(
        math.floor(math.log2(_LARGEST / real.max())),
        math.floor(math.log2(_LARGEST_SUMMAND / max(1.0, np.abs(offsets).max()))),
        _MOST_SHIFTED,
    )
    factors = np.round(real * 2.0**second).astype(np.int64)
    summands = np.round(offsets * 2.0**second).astype(np.int64)
    return Requantisation(first, tuple(map(int, factors)), tuple(map(int, summands)), second)


def lifted(real: Floats, fewer: int = 0) -> Floats:
    """Return the lift of a positive result by LiteRT's second rounding.

    The product is rounded before it is shifted, to as many bits behind the point as the shift has.
    A result below a half, by less than half of the last bit, becomes a half and is rounded up. If
    the zero point is the least value, other results do not show.

    Args:
        real: Multiplier of a sum, a number of 31 bits and a shift to the right.
        fewer: Bits by which the shift is larger, of a mean.
    """
    _, exponents = np.frexp(real)
    shifts = fewer - exponents.astype(np.float64)
    made: Floats = np.where(shifts > 0, 2.0 ** -(shifts + 1), 0.0)
    return made


def _sayable(scales: Scales, biases: Floats) -> Floats:
    """Return the magnitude beyond which a sum puts the output at an end of its range.

    There is one for each channel, with a little more for the rounding.
    """
    step = 1 / scales.real
    ends = [(end - scales.zero_point) * step - biases for end in (_INT8_MIN - 1, _INT8_MAX + 1)]
    found: Floats = np.maximum(*np.abs(ends))
    return found


def as_fraction(value: float) -> tuple[int, int]:
    """Return a number of 15 bits and a shift to the right that make the value."""
    exponent = math.floor(math.log2(value))
    return round(value / 2.0**exponent * 2**_FRACTION_BITS), _FRACTION_BITS - exponent


def excess_bits(magnitude: float) -> int:
    """Return the shift to the right by which a number fits into 16 bits."""
    return max(0, math.ceil(math.log2((magnitude + 1) / _LARGEST)))


def largest_sums(
    images: NDArray[np.int8],
    kernels: Integers,
    stride: int,
    pads: tuple[int, int, int, int],
    zero: int,
    groups: Sequence[tuple[int, int]],
) -> Floats:
    """Return the largest magnitude of each kernel's sums.

    Both whole sums and those that run through memory count.

    Args:
        images: Values of the calibration, count x height x width x channels.
        kernels: Weights, height x width x channels x kernels.
        stride: Stride of the window.
        pads: Padding at top, bottom, left and right.
        zero: Zero point of the images.
        groups: First channel and the one behind the last of each group, in the order in which they
            are summed up.
    """
    count = kernels.shape[-1]
    top, bottom, left, right = pads
    largest = np.zeros(count)
    around = [(top, bottom), (left, right), (0, 0)]
    for image in images:
        shifted = np.pad(image.astype(np.float64) - zero, around)
        total: Floats | float = 0.0
        for first, end in groups:
            part = _sums(shifted[..., first:end], kernels[:, :, first:end].astype(np.float64), stride)
            total = total + part
            largest = np.maximum(largest, np.maximum(_by_channel(part), _by_channel(total)))
    return largest


def largest_depthwise_sums(
    images: NDArray[np.int8], kernels: Integers, stride: int, pads: tuple[int, int, int, int], zero: int
) -> Floats:
    """Return the largest magnitude of each channel's sums of a depthwise convolution.

    Arguments are as in `largest_sums`, with kernels of height x width x channels.
    """
    height, width, channels = kernels.shape
    top, bottom, left, right = pads
    largest = np.zeros(channels)
    for image in images:
        shifted = np.pad(image.astype(np.float64) - zero, [(top, bottom), (left, right), (0, 0)])
        rows, columns = (shifted.shape[0] - height) // stride + 1, (shifted.shape[1] - width) // stride + 1
        total: Floats | float = 0.0
        for y in range(height):
            for x in range(width):
                total = total + _taken(shifted, y, x, rows, columns, stride) * kernels[y, x]
        assert not isinstance(total, float)
        largest = np.maximum(largest, _by_channel(total))
    return largest


def possible_sums(weights: Integers) -> Floats:
    """Return the largest magnitude of each channel's sums for any unsigned values.

    Args:
        weights: Weights, height x width x channels.
    """
    ends = [np.maximum(sign * weights, 0).sum((0, 1)) for sign in (1, -1)]
    found: Floats = _LARGEST_UNSIGNED * np.maximum(*ends).astype(np.float64)
    return found


def _sums(image: Floats, kernels: Floats, stride: int) -> Floats:
    height, width, _, count = kernels.shape
    rows, columns = (image.shape[0] - height) // stride + 1, (image.shape[1] - width) // stride + 1
    total = np.zeros((rows, columns, count))
    for y in range(height):
        for x in range(width):
            pixels = _taken(image, y, x, rows, columns, stride).reshape(rows * columns, -1)
            total += _product(pixels, kernels[y, x]).reshape(total.shape)
    return total


def _product(pixels: Floats, kernels: Floats) -> Floats:
    """Multiply pixels x channels by channels x kernels, in pieces.

    The library behind numpy shares larger products between threads. On a busy machine these wait
    for each other ten times as long as they compute. Sums are whole numbers: pieces do not change
    them.
    """
    (count, depth), made = pixels.shape, np.empty((len(pixels), kernels.shape[1]))
    some = max(_FEWEST_PIXELS, _AT_ONCE // kernels.size)
    several = max(1, _AT_ONCE // (some * depth))
    for first in range(0, count, some):
        for kernel in range(0, kernels.shape[1], several):
            piece = slice(first, first + some), slice(kernel, kernel + several)
            made[piece] = pixels[piece[0]] @ kernels[:, piece[1]]
    return made


def _taken(image: Floats, y: int, x: int, rows: int, columns: int, stride: int) -> Floats:
    return image[y : y + (rows - 1) * stride + 1 : stride, x : x + (columns - 1) * stride + 1 : stride]


def _by_channel(sums: Floats | float) -> Floats:
    assert not isinstance(sums, float)
    found: Floats = np.abs(sums).reshape(-1, sums.shape[-1]).max(0)
    return found
