"""What a reference interpreter computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class ReferenceTensor:
    """An input of the model, or what one of its operators made; never a constant. real = scale * (value - zero_point); 1 and 0
    where it is not quantised.

    operator: "CONV_2D", "Conv", "input"; in ONNX, everything between the quantised tensors before it and its QuantizeLinear, as
    "Conv+Relu". inputs: names of the tensors that it is made from. channels_last: as in TFLite; ONNX has (N, C, ...). index: of
    the tensor in a TFLite file, -1 in ONNX. real: in ONNX, the name of the real numbers that it was quantised from, empty for an
    input.
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


@dataclass(frozen=True)
class Port:
    """An input or output of a model, as it says itself. scale, zero_point: as of `ReferenceTensor`. shape: 1 for a size that
    is left open."""

    name: str
    type: str
    shape: tuple[int, ...]
    scale: float
    zero_point: int


@dataclass(frozen=True)
class TensorPlan:
    """A `ReferenceTensor` before it is computed. place: its number in a TFLite file, its name in an ONNX graph. real: as of
    `ReferenceTensor`."""

    name: str
    operator: str
    inputs: tuple[str, ...]
    scale: float
    zero_point: int
    place: Any
    real: str = ""

    def with_values(self, values: NDArray[np.generic], *, channels_last: bool) -> ReferenceTensor:
        """values: in the shape that the interpreter gives them."""
        return ReferenceTensor(
            self.name,
            self.operator,
            self.inputs,
            tuple(values.shape),
            channels_last,
            values.dtype.name,
            self.scale,
            self.zero_point,
            values,
            self.place if isinstance(self.place, int) else -1,
            self.real,
        )


class RefusedError(Exception):
    """A model or its inputs that an interpreter is not started with, or that it refuses. The message says why, in one line."""
