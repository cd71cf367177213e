"""The integer graph as it is in the model file: tensors and operators, nothing decided yet."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

DType = Literal["int8", "uint8", "int16", "int32", "int64", "float32", "bool"]

ELEMENT_BYTES: dict[DType, int] = {
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "float32": 4,
    "bool": 1,
}


@dataclass(frozen=True)
class Quantisation:
    """real = scale * (integer - zero point); several scales: one per index of dimension `axis`. Scales are float32 values."""

    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int = 0

    @property
    def scale(self) -> float:
        """Of a tensor with one scale."""
        return self.scales[0]

    @property
    def zero_point(self) -> int:
        """Of a tensor with one zero point."""
        return self.zero_points[0]


@dataclass(frozen=True)
class Tensor:
    """index: in the model file. data: of a constant, in the tensor's type and shape; None for an activation. is_state: what an
    operator keeps from one inference to the next (a variable tensor). unsigned: uint8 in
    the model file, held as int8 with 128 less (`unsigned.as_signed`). dimensions: of an ONNX model, which one of those that the
    tensor of this name has there each one is; None where they do not correspond."""

    index: int
    name: str
    dtype: DType
    shape: tuple[int, ...]
    quantisation: Quantisation | None
    data: NDArray[np.generic] | None = field(default=None, compare=False)
    is_state: bool = False
    unsigned: bool = False
    dimensions: tuple[int, ...] | None = None

    @property
    def elements(self) -> int:
        """Product of its sizes, 1 for a scalar."""
        return math.prod(self.shape)

    @property
    def bytes(self) -> int:
        """Size of all its elements."""
        return self.elements * ELEMENT_BYTES[self.dtype]


@dataclass(frozen=True)
class Operator:
    """index: in the model file. inputs: tensor indices, None for an absent optional input. options: as the module of this kind
    has read them. part: which of its outputs this one is; an operator with several outputs is here once for each.
    intermediates: the quantisation of what the operator computes inside, where the file has it. added: it is not in the model
    file."""

    index: int
    kind: str
    inputs: tuple[int | None, ...]
    output: int
    options: object = None
    part: int = 0
    intermediates: tuple[Quantisation | None, ...] = ()
    added: bool = False

    def __str__(self) -> str:
        return f"operator {self.index} ({self.kind})"


@dataclass(frozen=True)
class Refusal:
    """Why an operator cannot be compiled. operator: its index. id: N6-NET-0xx. text: names operator, tensor and type. hint: the
    nearest change of the model that would help. dtype: the type that is in the way, where one is."""

    operator: int
    kind: str
    id: str
    text: str
    hint: str
    dtype: str = ""


@dataclass(frozen=True)
class Signature:
    """The name under which the model file offers its function, and those of the function's inputs."""

    key: str
    inputs: tuple[str, ...]


@dataclass(frozen=True)
class Graph:
    """Operators in an order that can be executed. tensors: by index. refused: operators of the file that could not be read and
    are not among `operators`; such a graph does not pass graph_checks."""

    tensors: dict[int, Tensor]
    operators: tuple[Operator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    refused: tuple[Refusal, ...] = ()
    signature: Signature | None = None
