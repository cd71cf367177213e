"""Tensors that a reference interpreter computed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from n6build.base.same_fields import with_fields_of


@dataclass(frozen=True)
class ReferenceTensor:
    """An input of the model, or a result of one of its operators; never a constant.

    A quantised value is real = scale * (value - zero_point).

    Attributes:
        name: Name of the tensor.
        operator: "CONV_2D", "Conv", "input"; in ONNX, all operators between the quantised tensors before
            it and its QuantizeLinear, such as "Conv+Relu".
        inputs: Names of the tensors that it is made from.
        shape: Shape of the values.
        channels_last: True in TFLite; ONNX has (N, C, ...).
        type: Type of an element.
        scale: 1 if it is not quantised.
        zero_point: 0 if it is not quantised.
        values: The values.
        index: Number of the tensor in a TFLite file, -1 in ONNX.
        real: In ONNX, the name of the real numbers that it was quantised from, empty for an input.
        kernel: `kernel_mark` of its operator's weights; empty for an operator without weights.
    """

    name: str
    operator: str
    inputs: tuple[str, ...]
    shape: tuple[int, ...]
    channels_last: bool
    type: str
    scale: float
    zero_point: int
    values: NDArray[np.generic]
    index: int = -1
    real: str = ""
    kernel: str = ""


@dataclass(frozen=True)
class Port:
    """An input or output of a model, by the model's own description.

    Attributes:
        name: Name of the tensor.
        type: Type of an element.
        shape: An open size is 1.
        scale: As in `ReferenceTensor`.
        zero_point: As in `ReferenceTensor`.
    """

    name: str
    type: str
    shape: tuple[int, ...]
    scale: float
    zero_point: int


@dataclass(frozen=True)
class TensorPlan:
    """A `ReferenceTensor` before it is computed.

    Attributes:
        name: Name of the tensor.
        operator: As in `ReferenceTensor`.
        inputs: As in `ReferenceTensor`.
        scale: As in `ReferenceTensor`.
        zero_point: As in `ReferenceTensor`.
        place: Its number in a TFLite file, its name in an ONNX graph.
        real: As in `ReferenceTensor`.
        kernel: As in `ReferenceTensor`.
    """

    name: str
    operator: str
    inputs: tuple[str, ...]
    scale: float
    zero_point: int
    place: Any
    real: str = ""
    kernel: str = ""

    def with_values(self, values: NDArray[np.generic], *, channels_last: bool) -> ReferenceTensor:
        """Return the tensor with its values, in the shape from the interpreter."""
        return with_fields_of(
            ReferenceTensor,
            self,
            shape=tuple(values.shape),
            channels_last=channels_last,
            type=values.dtype.name,
            values=values,
            index=self.place if isinstance(self.place, int) else -1,
        )


def kernel_mark(scales: Iterable[float]) -> str:
    """Return a mark of quantised weights, made from their scales.

    A compiler keeps these scales in its files, so that the mark finds the operator of a layer.
    """
    with np.errstate(over="ignore"):
        return hashlib.sha256(np.fromiter(scales, np.float64).astype("<f4").tobytes()).hexdigest()


def first_line(error: Exception) -> str:
    """Return the first line of an error's text, or its type if it has none."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


class RefusedError(Exception):
    """A model or inputs that n6build or the interpreter refuses.

    The message has the reason, in one line.
    """
