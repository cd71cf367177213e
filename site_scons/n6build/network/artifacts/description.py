"""What stage 1 left in its folder, whichever backend it was: the one source of the memory plan."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from n6build.network.ll_aton import Version

TensorType = Literal["int8", "uint8", "int16", "uint16", "int32", "int64", "float32", "bool"]

# How an epoch is mapped that the NPU has no part in.
ON_CPU = "NODE_SW"
# What the reference backend calls itself.
OWN_TOOL = "n6build reference backend"
NPU_TOOL = "n6build neural_art backend"
OWN_TOOLS = (OWN_TOOL, NPU_TOOL)


@dataclass(frozen=True)
class PoolRange:
    """A concrete memory pool: bytes [address, address + used_bytes) are in use, of them `weights_bytes` by initializers.

    address: 0 for a relative pool, whose base is only known when the firmware is linked.
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
        """Address after the last byte in use."""
        return self.address + self.used_bytes


@dataclass(frozen=True)
class InitializerImage:
    """A raw file and the pool whose first `bytes` bytes it is."""

    pool: str
    fname: str
    address: int
    file: Path
    bytes: int
    relative: bool


@dataclass(frozen=True)
class IoBuffer:
    """An input or output of the network. real = scale * (value - zero_point); 1 and 0 for float32.

    address: None where the application allocates it (own), or its pool is relative. original: its name in the model, where the
    compiler says so.
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
    """What the network keeps from one inference to the next. address: None where its pool is relative."""

    name: str
    address: int | None
    bytes: int


@dataclass(frozen=True)
class Quantised:
    """The quantisation of any buffer: its smallest and largest scale and zero point. is_io: an input or output."""

    name: str
    type: str
    scales: tuple[float, float]
    zero_points: tuple[int, int]
    is_io: bool


@dataclass(frozen=True)
class EpochInfo:
    """index: ST's number of it, which need not begin at 1 and may jump. kind: of its operators, empty where they are not
    known. macs: 0 where they are not known. mapping: NODE_SW, NODE_HW, NODE_EC...

    bytes: of all buffers that it reads or writes, initializers included; 0 where that is not known.
    """

    index: int
    name: str
    kind: str
    macs: int
    bytes: int
    mapping: str

    @property
    def on_cpu(self) -> bool:
        """Whether the NPU has no part in it."""
        return self.mapping == ON_CPU


@dataclass(frozen=True)
class EpochBlock:
    """What the runtime starts and ends as one: epochs `first` to `last`, by ST's numbers. They differ where a blob of the
    epoch controller holds several. mapping: as that of an epoch."""

    first: int
    last: int
    mapping: str


@dataclass(frozen=True)
class NetworkArtifacts:
    """name: of its files. suffix: of its symbols in C. source: network.c, or the relocatable model that another tool has linked
    of it.

    ll_aton: version of the runtime that it asks for. library_call: a function of ST's library that it calls, None where n6build's
    runtime is all it needs. tools: name and version of what made it. described_by: the file that this was read from. blocks: the
    table of epoch blocks in its order, in which the firmware counts; epochs: those in its blocks, since others are listed, too,
    that nothing runs for. states: as the reference backend names them.
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
    def uses_npu(self) -> bool:
        """Whether the NPU has a part in any of its epochs."""
        mappings = {*(epoch.mapping for epoch in self.epochs), *(block.mapping for block in self.blocks)}
        return mappings - {ON_CPU} != set()

    @property
    def is_linked(self) -> bool:
        """Whether there is no network.c, but a file that was linked of it."""
        return self.source.suffix != ".c"

    @property
    def compiled_here(self) -> bool:
        """Whether a backend of this project has made it, by what it says itself."""
        return any(name in OWN_TOOLS for name, _ in self.tools)


def weights_name(network: str, pool: str) -> str:
    """Name of the file with a pool's initializers in a folder of stage 1. pool: its postfix, empty where it has none."""
    return f"{network}_atonbuf.{pool}.raw" if pool else f"{network}_atonbuf.raw"
