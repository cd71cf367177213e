"""What a name stands for while an ONNX graph is read: a constant, a tensor, or numbers to be quantised."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from n6build.network.reference.graph import Quantisation, Tensor
from n6build.network.reference.onnx.storage import Order, Shape

Float32 = NDArray[np.float32]


@dataclass(frozen=True)
class Constant:
    """array: as in the file; `unsigned` and quantised, of uint8 in the file, as int8. quantisation: where it stands for real
    numbers."""

    array: NDArray[Any]
    quantisation: Quantisation | None = None
    unsigned: bool = False

    @property
    def shape(self) -> Shape:
        """Its sizes."""
        return tuple(self.array.shape)

    def numbers(self) -> Float32:
        """What it stands for, in float32 as ONNX Runtime computes it."""
        if self.quantisation is None:
            return np.asarray(self.array, np.float32)
        sizes = [1] * self.array.ndim
        if len(self.quantisation.scales) > 1:
            sizes[self.quantisation.axis] = -1
        scales = np.array(self.quantisation.scales, np.float32).reshape(sizes)
        zero_points = np.array(self.quantisation.zero_points, np.int64).reshape(sizes)
        return ((self.array.astype(np.int64) - zero_points).astype(np.float32) * scales).astype(np.float32)


@dataclass(frozen=True)
class Held:
    """A tensor in memory. shape: in the ONNX graph. order: of its dimensions in memory. real: stands for the real numbers that
    its integers mean, as behind a DequantizeLinear. unsigned: whether the ONNX graph has uint8, larger by 128."""

    tensor: Tensor
    shape: Shape
    order: Order
    real: bool = False
    unsigned: bool = False

    @property
    def is_float(self) -> bool:
        """Whether float32 lies in memory."""
        return self.tensor.dtype == "float32"


@dataclass(frozen=True)
class Target:
    """What a QuantizeLinear asks for. name: of the tensor. unsigned: whether the ONNX graph has uint8, larger by 128. low, high:
    limits of the real numbers."""

    name: str
    quantisation: Quantisation
    unsigned: bool = False
    low: float = -math.inf
    high: float = math.inf

    @property
    def is_limited(self) -> bool:
        """Whether a limit keeps some integer out."""
        scale, zero_point = self.quantisation.scale, self.quantisation.zero_point
        return self.low > (-128 - zero_point) * scale or self.high < (127 - zero_point) * scale


@dataclass(frozen=True)
class Pending:
    """Real numbers that no memory holds. make: adds the operators that compute them, quantised. low, high: what they are limited
    to. source, function: where each is a function of one element of an int8 tensor: its values for -128 to 127.
    make_real: adds the operators that compute them as float32, of this name."""

    shape: Shape
    make: Callable[[Target], Held]
    low: float = -math.inf
    high: float = math.inf
    source: Held | None = None
    function: Float32 | None = None
    make_real: Callable[[str], Held] | None = None


Value = Constant | Held | Pending


def is_quantised(value: Value | None) -> bool:
    """Whether it stands for the real numbers behind an int8 tensor in memory."""
    return isinstance(value, Held) and value.real
