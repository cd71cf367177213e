"""The integer graph of a model file: tensors and operators, nothing decided yet."""

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
    """Parameters of a quantised tensor: real = scale * (integer - zero point).

    Attributes:
        scales: One scale, or one for each index of dimension `axis`; all are float32 values.
        zero_points: One zero point for each scale.
        axis: Dimension of the scales.
    """

    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int = 0

    @property
    def scale(self) -> float:
        """Return the scale of a tensor that has only one."""
        return self.scales[0]

    @property
    def zero_point(self) -> int:
        """Return the zero point of a tensor that has only one."""
        return self.zero_points[0]


@dataclass(frozen=True)
class Tensor:
    """A tensor of the model file.

    Attributes:
        index: Index in the model file.
        name: Name in the model file.
        dtype: Type of its elements.
        shape: Sizes of its dimensions.
        quantisation: Its quantisation, or None.
        data: Elements of a constant in the tensor's type and shape; None for an activation.
        is_state: True for a variable tensor, which an operator keeps from one inference to the
            next.
        unsigned: True if it is uint8 in the model file and held as int8 with 128 less
            (`unsigned.as_signed`).
        dimensions: For an ONNX model, the dimension in the model file that each dimension
            corresponds to; None if they do not correspond.
    """

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
        """Return the product of its sizes, which is 1 for a scalar."""
        return math.prod(self.shape)

    @property
    def start(self) -> int:
        """Return the byte with which the reference interpreter fills a variable tensor.

        It is 0 to 255. A tensor of 8 bits gets its zero point.
        """
        return self.quantisation.zero_point % 256 if self.dtype in ("int8", "uint8") and self.quantisation else 0

    @property
    def bytes(self) -> int:
        """Return the size of all its elements, in bytes."""
        return self.elements * ELEMENT_BYTES[self.dtype]


@dataclass(frozen=True)
class Operator:
    """An operator of the model file, with one output.

    An operator with several outputs is in the graph once for each of them.

    Attributes:
        index: Index in the model file.
        kind: Name of its kind.
        inputs: Indices of its input tensors; None for an absent optional input.
        output: Index of its output tensor.
        options: Options as the module of this kind has read them.
        part: Number of this output among the operator's outputs.
        intermediates: Quantisation of the operator's intermediate results, if the file has it.
        added: True if the model file does not have it.
    """

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
    """A reason why an operator cannot be compiled.

    Attributes:
        operator: Index of the operator.
        kind: Name of its kind.
        id: Id of the error, N6-NET-0xx.
        text: Message that names operator, tensor and type.
        hint: Nearest change of the model that would help.
        dtype: Type that is in the way, or empty.
    """

    operator: int
    kind: str
    id: str
    text: str
    hint: str
    dtype: str = ""


@dataclass(frozen=True)
class Signature:
    """The signature of a model's function.

    Attributes:
        key: Name under which the model file offers its function.
        inputs: Names of the function's inputs.
    """

    key: str
    inputs: tuple[str, ...]


@dataclass(frozen=True)
class Graph:
    """A model's graph, with operators in an order that can be executed.

    Attributes:
        tensors: Tensors by index.
        operators: Operators in their order.
        inputs: Indices of the model's inputs.
        outputs: Indices of the model's outputs.
        refused: Operators of the file that could not be read and are not among `operators`; such a
            graph does not pass graph_checks.
        signature: Signature of the model's function, or None.
    """

    tensors: dict[int, Tensor]
    operators: tuple[Operator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    refused: tuple[Refusal, ...] = ()
    signature: Signature | None = None
