"""The description of a network after stage 1, for any backend.

It is the only source of the memory plan.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from n6build.compile.ll_aton import Version

TensorType = Literal["int8", "uint8", "int16", "uint16", "int32", "int64", "float32", "bool"]

# An epoch that runs without the NPU has this mapping.
ON_CPU = "NODE_SW"
# The backends of n6build write these names into their files.
OWN_TOOL = "n6build reference backend"
NPU_TOOL = "n6build neural_art backend"
OWN_TOOLS = (OWN_TOOL, NPU_TOOL)
# Kinds of epochs that compute layers in float32 begin with this.
OF_FLOAT32 = "Float"


@dataclass(frozen=True)
class PoolRange:
    """A concrete memory pool, with bytes [address, address + used_bytes) in use.

    Attributes:
        name: Name of the pool.
        fname: Postfix in names of files.
        address: First address; 0 for a relative pool, whose base is only known when the firmware is
            linked.
        size: Bytes of the pool.
        used_bytes: Bytes in use.
        weights_bytes: Bytes of them that initializers take.
        rights: ACC_READ or ACC_WRITE.
        relative: The pool has no fixed address.
    """

    name: str
    fname: str
    address: int
    size: int
    used_bytes: int
    weights_bytes: int
    rights: str
    relative: bool

    @property
    def used_end(self) -> int:
        """Return the address after the last byte in use."""
        return self.address + self.used_bytes


@dataclass(frozen=True)
class InitializerImage:
    """A raw file, and the pool whose first `bytes` bytes it is."""

    pool: str
    fname: str
    address: int
    file: Path
    bytes: int
    relative: bool


@dataclass(frozen=True)
class IoBuffer:
    """An input or output of the network.

    The real value is scale * (value - zero_point); scale 1 and zero point 0 for float32.

    Attributes:
        name: Name of the buffer.
        address: Address; None if the application allocates the buffer (own), or its pool is
            relative.
        bytes: Size.
        type: Type of a value.
        shape: Sizes of the axes.
        scale: Scale of the quantisation.
        zero_point: Zero point of the quantisation.
        own: The application allocates the buffer.
        original: Name in the model, if the compiler gives it.
    """

    name: str
    address: int | None
    bytes: int
    type: TensorType
    shape: tuple[int, ...]
    scale: float
    zero_point: int
    own: bool = False
    original: str = ""


@dataclass(frozen=True)
class StateBuffer:
    """A buffer that keeps its content between inferences.

    Attributes:
        name: Name of the buffer.
        address: Address, None if its pool is relative.
        bytes: Size.
    """

    name: str
    address: int | None
    bytes: int


@dataclass(frozen=True)
class Quantised:
    """The quantisation of a buffer.

    Attributes:
        name: Name of the buffer.
        type: Type of a value.
        scales: Smallest and largest scale.
        zero_points: Smallest and largest zero point.
        is_io: The buffer is an input or output.
    """

    name: str
    type: str
    scales: tuple[float, float]
    zero_points: tuple[int, int]
    is_io: bool


@dataclass(frozen=True)
class EpochInfo:
    """An epoch of a network.

    Attributes:
        index: ST's number of the epoch, which need not begin at 1 and may jump.
        name: Names of its operators.
        kind: Kinds of its operators, empty if they are unknown.
        macs: Multiply-accumulates, 0 if they are unknown.
        bytes: Bytes of all buffers that it reads or writes, initializers included; 0 if unknown.
        mapping: NODE_SW, NODE_HW, NODE_EC...
    """

    index: int
    name: str
    kind: str
    macs: int
    bytes: int
    mapping: str

    @property
    def on_cpu(self) -> bool:
        """Return whether the epoch runs without the NPU."""
        return self.mapping == ON_CPU


@dataclass(frozen=True)
class EpochBlock:
    """A block that the runtime starts and ends as one: epochs `first` to `last`.

    The numbers are ST's. They differ if a blob of the epoch controller holds several epochs.
    `mapping` is like that of an epoch.
    """

    first: int
    last: int
    mapping: str


@dataclass(frozen=True)
class NetworkArtifacts:
    """The description of a compiled network.

    Attributes:
        name: Name of its files.
        suffix: Suffix of its symbols in C.
        source: network.c, or the relocatable model that another tool has linked.
        pools: Concrete memory pools.
        initializers: Raw files with weights.
        inputs: Inputs in their order.
        outputs: Outputs in their order.
        quantised: Quantisation of all buffers.
        epochs: Epochs in its blocks; other epochs are listed in files but nothing runs for them.
        ll_aton: Version of the runtime that it asks for.
        library_call: A function of ST's library that it calls; None if n6build's runtime is enough.
        tools: Name and version of each tool that made it.
        described_by: File that this description was read from.
        blocks: Table of epoch blocks in its order, by which the firmware counts.
        states: Buffers that keep their content, by the names of the reference backend.
    """

    name: str
    suffix: str
    source: Path
    pools: tuple[PoolRange, ...]
    initializers: tuple[InitializerImage, ...]
    inputs: tuple[IoBuffer, ...]
    outputs: tuple[IoBuffer, ...]
    quantised: tuple[Quantised, ...]
    epochs: tuple[EpochInfo, ...]
    ll_aton: Version | None
    library_call: str | None
    tools: tuple[tuple[str, str], ...]
    described_by: str
    blocks: tuple[EpochBlock, ...] = ()
    states: tuple[StateBuffer, ...] = ()

    @property
    def in_float32(self) -> bool:
        """Return whether an epoch computes a layer in float32."""
        return any(epoch.kind.startswith(OF_FLOAT32) for epoch in self.epochs)

    @property
    def uses_npu(self) -> bool:
        """Return whether any epoch uses the NPU."""
        mappings = {*(epoch.mapping for epoch in self.epochs), *(block.mapping for block in self.blocks)}
        return mappings - {ON_CPU} != set()

    @property
    def is_linked(self) -> bool:
        """Return whether the network is a linked file without network.c."""
        return self.source.suffix != ".c"

    @property
    def compiled_here(self) -> bool:
        """Return whether a backend of n6build made the network, according to its files."""
        return any(name in OWN_TOOLS for name, _ in self.tools)
