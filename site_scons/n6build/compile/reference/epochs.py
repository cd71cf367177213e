"""A compiled network without addresses: epochs, buffers and constants.

Each epoch is one call of a kernel, or runs on the NPU.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from n6build.compile.reference.graph import ELEMENT_BYTES, DType, Quantisation, Tensor

# Types of constants stored for the kernels. A model file has no doubles.
ConstantType = DType | Literal["float64"]
ELEMENT_BITS: dict[ConstantType, int] = {
    **{dtype: 8 * count for dtype, count in ELEMENT_BYTES.items()},
    "float64": 64,
}


@dataclass(frozen=True)
class Address:
    """A place in a buffer or an initializer.

    Attributes:
        name: Name of the buffer or the initializer.
        offset: Distance from its start, in bytes.
    """

    name: str
    offset: int = 0


@dataclass(frozen=True)
class Fields:
    """The values of a C structure's members, in order."""

    members: tuple[tuple[str, Value], ...]


Value = int | float | Address | Fields


@dataclass(frozen=True)
class Buffer:
    """Memory of an activation or of scratch.

    Attributes:
        name: Name of the buffer.
        bytes: Size of the buffer.
        first: First epoch that uses it; 0 is before the first epoch.
        last: Last epoch that uses it.
        tensor: The activation, or None for scratch.
        inside: Part of another buffer's memory that it takes, or None if it has memory of its own.
    """

    name: str
    bytes: int
    first: int
    last: int
    tensor: Tensor | None
    inside: Address | None = None


@dataclass(frozen=True)
class Initializer:
    """A constant that a kernel reads.

    Attributes:
        name: Name of the constant.
        epoch: First epoch that reads it.
        dtype: Type of its elements.
        shape: Sizes of its dimensions.
        quantisation: Quantisation in the model file, or None.
        data: Its bytes, little endian.
    """

    name: str
    epoch: int
    dtype: ConstantType
    shape: tuple[int, ...]
    quantisation: Quantisation | None
    data: memoryview = field(repr=False)


@dataclass(frozen=True)
class ScratchBuffer:
    """Scratch memory of an epoch.

    Attributes:
        name: Name of the buffer.
        bytes: Size of the buffer.
        least: Size that the kernel needs, as an expression in C that the C compiler compares with
            `bytes`.
    """

    name: str
    bytes: int
    least: str


@dataclass(frozen=True)
class Epoch:
    """A step of a network: one kernel call, or an epoch of the NPU.

    Attributes:
        index: Number of the epoch, from 1.
        kernel: Name of the function n6k_<kernel> of n6_kernels.h; empty if the epoch runs on the
            NPU.
        descriptor_type: C type of the kernel's descriptor.
        kind: Kind of operator, for reports.
        node: Unique name.
        operators: Indices of its operators in the model file.
        descriptor: Values of the kernel's descriptor.
        inputs: Names of the buffers that it reads.
        output: Name of the buffer that it makes.
        initializers: Names of the constants that it reads.
        macs: Number of multiply-accumulates.
        scratch: Its scratch memory, or None.
        in_place: Parts of inputs, of the output's size, whose memory the output may take.
        more_outputs: Names of further buffers that an epoch of the NPU makes.
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
    """A tensor that an operator keeps from one inference to the next.

    Attributes:
        buffer: Name of the buffer that holds it.
        tensor: The variable tensor.
        start: Value of each of its bytes when the network is initialised, 0 to 255.
    """

    buffer: str
    tensor: Tensor
    start: int


@dataclass(frozen=True)
class Network:
    """A compiled network without addresses."""

    epochs: tuple[Epoch, ...]
    buffers: tuple[Buffer, ...]
    initializers: tuple[Initializer, ...]
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    states: tuple[State, ...] = ()
