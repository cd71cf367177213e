"""Values of names while an ONNX graph is read.

A value is a constant, a tensor, or numbers to be quantised.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from n6build.compile.reference.graph import Quantisation, Tensor
from n6build.compile.reference.onnx.storage import Order, Shape

Float32 = NDArray[np.float32]


@dataclass(frozen=True)
class Constant:
    """A constant of the file.

    Attributes:
        array: Elements as in the file; quantised uint8 elements are converted to int8.
        quantisation: Scales and zero points of a constant that represents real numbers.
        unsigned: Whether the file has uint8.
    """

    array: NDArray[Any]
    quantisation: Quantisation | None = None
    unsigned: bool = False

    @property
    def shape(self) -> Shape:
        """Return the sizes of the dimensions."""
        return tuple(self.array.shape)

    def numbers(self) -> Float32:
        """Return the real numbers, in float32 as ONNX Runtime computes them."""
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
    """A tensor in memory.

    Attributes:
        tensor: Tensor of the kernels' graph.
        shape: Shape in the ONNX graph.
        order: Order of its dimensions in memory.
        real: Whether it represents the real numbers of its integers, as behind a DequantizeLinear.
        unsigned: Whether the ONNX graph has uint8, larger by 128.
        rows_vary: Whether the number of rows in the ONNX graph depends on the input. The memory has the
            largest number, and -1 in the rest.
    """

    tensor: Tensor
    shape: Shape
    order: Order
    real: bool = False
    unsigned: bool = False
    rows_vary: bool = False

    @property
    def is_float(self) -> bool:
        """Return whether the memory holds float32."""
        return self.tensor.dtype == "float32"


@dataclass(frozen=True)
class Target:
    """The tensor that a QuantizeLinear requests.

    Attributes:
        name: Name of the tensor.
        quantisation: Scale and zero point as int8.
        unsigned: Whether the ONNX graph has uint8, larger by 128.
        low: Lower limit of the real numbers.
        high: Upper limit of the real numbers.
    """

    name: str
    quantisation: Quantisation
    unsigned: bool = False
    low: float = -math.inf
    high: float = math.inf

    @property
    def is_limited(self) -> bool:
        """Return whether a limit excludes an integer of the int8 range."""
        scale, zero_point = self.quantisation.scale, self.quantisation.zero_point
        return self.low > (-128 - zero_point) * scale or self.high < (127 - zero_point) * scale


@dataclass(frozen=True)
class Pending:
    """Real numbers that are not in memory.

    Attributes:
        shape: Shape in the ONNX graph.
        make: Function that adds the operators that compute the numbers, quantised.
        low: Lower limit of the numbers.
        high: Upper limit of the numbers.
        source: Tensor of int8 if each number is a function of one of its elements.
        function: Values of that function for -128 to 127.
        make_real: Function that adds the operators that compute the numbers as float32, under a
            name.
        scaled: Function that returns the numbers times a factor plus an offset for each channel, or
            None if that changes more than constants.
    """

    shape: Shape
    make: Callable[[Target], Held]
    low: float = -math.inf
    high: float = math.inf
    source: Held | None = None
    function: Float32 | None = None
    make_real: Callable[[str], Held] | None = None
    scaled: Callable[[Float32, Float32], Pending | None] | None = None


Value = Constant | Held | Pending


def is_quantised(value: Value | None) -> bool:
    """Return whether a value is the real numbers of an int8 tensor in memory."""
    return isinstance(value, Held) and value.real
