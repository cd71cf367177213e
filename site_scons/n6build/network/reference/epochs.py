"""A compiled network without addresses: epochs of one kernel call each, buffers and constants."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from n6build.network.reference.graph import ELEMENT_BYTES, DType, Quantisation, Tensor

# Types of what is stored for the kernels; a model file has no doubles.
ConstantType = DType | Literal["float64"]
ELEMENT_BITS: dict[ConstantType, int] = {
    **{dtype: 8 * count for dtype, count in ELEMENT_BYTES.items()},
    "float64": 64,
}


@dataclass(frozen=True)
class Address:
    """Of a buffer or an initializer, by its name. offset: from its start, in bytes."""

    name: str
    offset: int = 0


@dataclass(frozen=True)
class Fields:
    """A C structure: its members in order."""

    members: tuple[tuple[str, Value], ...]


Value = int | float | Address | Fields


@dataclass(frozen=True)
class Buffer:
    """Memory of an activation (tensor) or of scratch (None), in use from epoch `first` to `last`; 0 is before the first.

    inside: the part of another buffer's memory that it takes, None where it has memory of its own."""

    name: str
    bytes: int
    first: int
    last: int
    tensor: Tensor | None
    inside: Address | None = None


@dataclass(frozen=True)
class Initializer:
    """A constant that a kernel reads. data: its bytes, little endian."""

    name: str
    epoch: int
    dtype: ConstantType
    shape: tuple[int, ...]
    quantisation: Quantisation | None
    data: memoryview = field(repr=False)


@dataclass(frozen=True)
class ScratchBuffer:
    """least: what the kernel needs, as an expression in C that the compiler compares with `bytes`."""

    name: str
    bytes: int
    least: str


@dataclass(frozen=True)
class Epoch:
    """index: from 1. kernel: n6k_<kernel> of n6_kernels.h; empty: the epoch runs on the NPU, which may make more_outputs, too.
    node: unique name. operators: of the model file.

    inputs, output, initializers: names. descriptor: of the kernel. macs: multiply-accumulates. in_place: parts of inputs, of the
    output's size, whose memory the output may take.
    """

    index: int
    kernel: str
    descriptor_type: str
    kind: str
    node: str
    operators: tuple[int, ...]
    descriptor: Fields
    inputs: tuple[str, ...]
    output: str
    initializers: tuple[str, ...]
    macs: int
    scratch: ScratchBuffer | None = None
    in_place: tuple[Address, ...] = ()
    more_outputs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Port:
    """An input or output of the network: a tensor and the buffer that holds it."""

    buffer: str
    tensor: Tensor


@dataclass(frozen=True)
class State:
    """What an operator keeps from one inference to the next: a tensor and the buffer that holds it. start: value of each of its
    bytes when the network is initialised, 0 to 255."""

    buffer: str
    tensor: Tensor
    start: int


@dataclass(frozen=True)
class Network:
    """Everything but addresses."""

    epochs: tuple[Epoch, ...]
    buffers: tuple[Buffer, ...]
    initializers: tuple[Initializer, ...]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    states: tuple[State, ...] = ()
