"""The outputs of the NPU's units, written in numpy from known facts.

No line comes from the model in C.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

NO_SHIFT = 16  # The value of the shifts in front of a unit for no shift.


def noise(seed: int, shape: tuple[int, ...], kind: str = "int8") -> np.ndarray:
    """Return values of the type, all equally likely."""
    info = np.iinfo(kind)
    return np.random.default_rng(seed).integers(info.min, info.max + 1, shape).astype(kind)


def rounded(value: np.ndarray, shift: int) -> np.ndarray:
    """Shift right and round to the nearest; halves go away from zero.

    No real output shows which way halves go.
    """
    if not shift:
        return value
    half = 1 << (shift - 1)
    return np.where(value >= 0, (value + half) >> shift, -((-value + half) >> shift))


def saturated(value: np.ndarray, width: int) -> np.ndarray:
    limit = 1 << (width - 1)
    bounded: np.ndarray = np.minimum(np.maximum(value, -limit), limit - 1)
    return bounded


def wrapped(value: np.ndarray, width: int) -> np.ndarray:
    """Return the two's complement of the lowest bits."""
    limit = 1 << (width - 1)
    return ((value + limit) & (2 * limit - 1)) - limit


def stream_of(raw: np.ndarray, lanes: tuple[int, ...], right_aligned: bool = False, signed: bool = False) -> np.ndarray:
    """Return elements of 24 bits from bytes in memory (elements x bytes)."""
    places = range(len(lanes)) if right_aligned else lanes
    value = sum(raw[..., byte].astype(np.int64) << 8 * place for byte, place in enumerate(places))
    assert isinstance(value, np.ndarray)
    return wrapped(value, 8 * len(lanes)) if right_aligned and signed else value


def bytes_of(stream: np.ndarray, lanes: tuple[int, ...], right_aligned: bool = False) -> np.ndarray:
    """Return the bytes that a writer leaves in memory for these elements."""
    places = range(len(lanes)) if right_aligned else lanes
    return np.stack([(stream >> 8 * place).astype(np.uint8) for place in places], -1)


@dataclass(frozen=True)
class Convolution:
    """The parameters of a convolution.

    Feature frames are height x width x batch, of bytes, or of 16 bits if `wide`. Kernels are of
    bytes, or of 16 bits if `wide_kernels` (SIMD 0). Four sides are left, right, top and bottom.

    Attributes:
        pads: 0 to 3 pixels on each side.
        zero_frame: Pixels of ZFRAME on each side.
        crop: First column, last column, first row and last row.
    """

    height: int = 5
    width: int = 6
    batch: int = 3
    kernels: int = 4
    kernel_height: int = 3
    kernel_width: int = 3
    x_step: int = 1
    y_step: int = 1
    pads: tuple[int, int, int, int] = (0, 0, 0, 0)
    zero_frame: tuple[int, int, int, int] = (0, 0, 0, 0)
    crop: tuple[int, int, int, int] | None = None
    subtract: int = 0
    fill: int = 0
    unsigned: bool = False
    wide: bool = False
    wide_kernels: bool = False
    in_shift: int = 0
    out_shift: int = 0
    out_bytes: int = 2
    relu: bool = False
    dss2: bool = False

    @property
    def sides(self) -> tuple[int, int, int, int]:
        left, right, top, bottom = (pad + more for pad, more in zip(self.pads, self.zero_frame, strict=True))
        return left, right, top, bottom

    @property
    def framed(self) -> tuple[int, int]:
        """Return height and width of the convolved image."""
        first_x, last_x, first_y, last_y = self.crop or (0, self.width - 1, 0, self.height - 1)
        left, right, top, bottom = self.sides
        return last_y - first_y + 1 + top + bottom, last_x - first_x + 1 + left + right

    @property
    def fits(self) -> bool:
        height, width = self.framed
        return height >= self.kernel_height and width >= self.kernel_width

    @property
    def simd(self) -> int:
        return 0 if self.wide_kernels else 2 if self.wide else 1

    @property
    def kernel_type(self) -> str:
        return "int16" if self.wide_kernels else "int8"

    @property
    def feature_type(self) -> str:
        return ("u" if self.unsigned else "") + ("int16" if self.wide else "int8")


def convolved(features: np.ndarray, kernels: np.ndarray, c: Convolution) -> np.ndarray:
    """Return sums as out height x out width x kernels.

    Args:
        kernels: Array of number x height x width x batch.
    """
    left, right, top, bottom = c.sides
    values = features.astype(np.int64) - c.subtract
    if c.crop:
        first_x, last_x, first_y, last_y = c.crop
        values = values[first_y : last_y + 1, first_x : last_x + 1]
    framed = np.pad(values, ((top, bottom), (left, right), (0, 0)), constant_values=c.fill)
    windows = np.lib.stride_tricks.sliding_window_view(framed, (c.kernel_height, c.kernel_width), (0, 1))
    sums: np.ndarray = np.einsum("yxbhw,khwb->yxk", windows[:: c.y_step, :: c.x_step], kernels.astype(np.int64))
    return sums


def requantised(sums: np.ndarray, c: Convolution, before: np.ndarray | None = None) -> np.ndarray:
    """Requantise sums.

    Args:
        before: The accumulated sums that are added.
    """
    total = sums if before is None else sums + (before << c.in_shift)
    result = rounded(total, c.out_shift)
    return saturated(np.maximum(result, 0) if c.relu else result, 8 * c.out_bytes)


def deep_order(kernels: np.ndarray) -> np.ndarray:
    """Return a set of kernels (number x batch) as bytes in memory.

    The order is groups of eight, channel by channel, in whole elements of three bytes.
    """
    groups = [kernels[first : first + 8].T.ravel() for first in range(0, len(kernels), 8)]
    stream = np.concatenate(groups)
    return np.concatenate([stream, np.full(-stream.size % 3, 77)]).astype(np.int8)


def counted_addresses(
    count: int, start: int, resets: list[tuple[int, int] | None], increment: tuple[int, int]
) -> list[int]:
    """Return each element's coefficient.

    Args:
        resets: RSTCNT and OFFSET of the counters 1, 2, 3; None for a counter that is off.
    """
    address, found = start, []
    for element in range(1, count + 1):
        found.append(address % 512)
        for counter in reversed(resets):
            if counter and element % (counter[0] + 1) == 0:
                address += counter[1]
                break
        else:
            if element % (increment[0] + 1) == 0:
                address += increment[1]
    return found


def pooled(frames: np.ndarray, kind: str, size: tuple[int, int], step: tuple[int, int]) -> np.ndarray:
    """Return the "max", "min" or "sum" of windows (height x width) as an array.

    Frames are height x width x batch.
    """
    windows = np.lib.stride_tricks.sliding_window_view(frames, size, (0, 1))[:: step[0], :: step[1]]
    result: np.ndarray = getattr(windows, kind)(axis=(3, 4))
    return result


@dataclass(frozen=True)
class Function:
    """A function by parabolas of segments, with shifts named as in ACTIV's registers."""

    segments: tuple[tuple[int, int], ...]  # Base and binary logarithm of the inner segments, for each outer one.
    parabolas: tuple[tuple[int, int, int], ...]  # A, B, C
    signed: bool = True
    scale: int = 8  # FUNC: normalisation
    out_shift: int = 0
    b_shift: int = 0
    c_shift: int = 0
    subtract: int = 0
    out_bytes: int = 1

    @property
    def outer_bits(self) -> int:
        return len(self.segments).bit_length() - 1

    def parabola_of(self, x: int) -> int:
        u = ((x << self.scale) + (0x8000 if self.signed else 0)) & 0xFFFF
        base, inner_bits = self.segments[u >> (16 - self.outer_bits)]
        return base + ((u << self.outer_bits & 0xFFFF) >> (16 - inner_bits))

    def at(self, values: np.ndarray) -> np.ndarray:
        made = []
        for x in (int(value) - self.subtract for value in values.ravel()):
            a, b, c = self.parabolas[self.parabola_of(x)]
            made.append(a * x * x + (b * x << self.b_shift) + (c << self.c_shift))
        return saturated(rounded(np.array(made, np.int64), self.out_shift), 8 * self.out_bytes)
