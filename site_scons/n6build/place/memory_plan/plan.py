"""The memory plan, which joins the networks of an application with a board.

All sizes are in bytes. Addresses are of the secure alias.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from n6build.base.bounded import decode_json
from n6build.base.errors import N6Error
from n6build.base.files import read_bytes, to_json
from n6build.base.span import Span
from n6build.place.memory_plan.slot_image import ROOM_BEHIND, trailer_offset
from n6build.place.reloc.slots import ModelSlot

# Longest name of an application, in characters. File systems allow little more than twice as many (255 bytes).
_LONGEST_NAME = 100
_DIGITS = 8


@dataclass(frozen=True)
class Content:
    """Content of an image in flash.

    Attributes:
        kind: Kind of the content.
        network: Name of the network's files.
        file: Name of a weight file of stage 1.
    """

    kind: Literal["weights", "vectors", "model", "params"]
    network: str
    file: str = ""


@dataclass(frozen=True)
class PlannedImage:
    """Initializers of one memory pool.

    Attributes:
        network: Name of the network's files.
        pool: File name of the pool.
        file: File of the network compiler.
        slot_file: File that is programmed.
        source: Address in flash.
        destination: Address where the network reads them; equal to `source` for weights read in place.
        bytes: Bytes of the initializers, without the trailer after them.
        signature: Signature that the trailer in flash must have, so that the image of another network
            is rejected.
        relative: The network gets the address at run time.
    """

    network: str
    pool: str
    file: str
    slot_file: str
    source: int
    destination: int
    bytes: int
    signature: int
    relative: bool

    @property
    def in_place(self) -> bool:
        """Return True if the network reads the image from flash, without a copy."""
        return self.source == self.destination

    @property
    def source_end(self) -> int:
        """Return the address behind the room for trailer and encryption."""
        return self.source + trailer_offset(self.bytes) + ROOM_BEHIND


# A stream engine may read this many bytes after a buffer: ST's compiler writes the end plus 64 as offset_limit of each buffer.
# A network of ST's compiler in a full bank was observed to read one byte of the next bank.
NPU_READ_AHEAD = 64


@dataclass(frozen=True)
class PlannedBank:
    """A RAM bank to power.

    Attributes:
        name: Name of the memory.
        rcc_enable_mask: Bit of the bank in RCC MEMENR.
        ramcfg_cr: Address of its RAMCFG control register.
        first_word: Address of the first word, to test the bank with.
        last_word: Address of the last word, to test the bank with.
    """

    name: str
    rcc_enable_mask: int
    ramcfg_cr: int
    first_word: int
    last_word: int

    @property
    def span(self) -> Span:
        """Return the span of the memory."""
        return Span(self.first_word, self.last_word + 4 - self.first_word)


@dataclass(frozen=True)
class PlannedVectors:
    """Test vectors of a network.

    Attributes:
        slot_file: File that is programmed; empty without vectors.
        source: Address in flash.
        count: Number of vectors.
        bytes_each: Bytes of all inputs of one vector.
    """

    slot_file: str
    source: int
    count: int
    bytes_each: int


@dataclass(frozen=True)
class OwnBuffer:
    """An input or output that the application allocates for a network.

    Attributes:
        direction: Input or output.
        index: Index among the inputs, or among the outputs.
        bytes: Bytes of the buffer.
        address: Address in external RAM; 0 if the linker places it in the Appli's RAM.
    """

    direction: Literal["input", "output"]
    index: int
    bytes: int
    address: int = 0


@dataclass(frozen=True)
class PlannedNetwork:
    """A network in the memory plan.

    Attributes:
        model: Name of the model.
        name: Name of the network's files.
        suffix: Suffix of its symbols in C.
        is_classification: The output is a class.
        vectors: Test vectors for runs.
        own_buffers: Buffers that the application must allocate.
        keeps_state: An inference continues from the one before.
    """

    model: str
    name: str
    suffix: str
    is_classification: bool
    vectors: PlannedVectors
    own_buffers: tuple[OwnBuffer, ...]
    keeps_state: bool = False


@dataclass(frozen=True)
class PlannedModel:
    """A relocatable model in the memory plan.

    Attributes:
        network: Name of the network's files.
        file: File that is programmed.
        params_file: File of separate weights that is programmed; empty if the weights are in `file`.
        slots: Slot A and, with two slots, B.
    """

    network: str
    file: str
    params_file: str
    slots: tuple[ModelSlot, ...]


@dataclass(frozen=True)
class PoolUse:
    """Use of a pool by a network: [address, address + used).

    Attributes:
        network: Network that uses the pool.
        name: Name of the pool.
        fname: Name of the pool in file names.
        address: Address of the pool.
        size: Bytes of the pool.
        used: Bytes that the network needs, from the start of the pool.
    """

    network: str
    name: str
    fname: str
    address: int
    size: int
    used: int


@dataclass(frozen=True)
class PlannedRegion:
    """RAM that a program is linked to, or a region of the external RAM.

    A region of the external RAM is as laid out for these networks.

    Attributes:
        name: Name of the program or region.
        address: Start address.
        size: Size in bytes.
    """

    name: str
    address: int
    size: int

    @property
    def end(self) -> int:
        """Return the first address after the region."""
        return self.address + self.size


@dataclass(frozen=True)
class MemoryPlan:
    """The memory plan of an application.

    Attributes:
        application: Names of the models.
        board: Name of the board.
        profile: Memory profile.
        networks: Networks in the order of the application.
        images: Images of weights in flash.
        banks: RAM banks to power.
        pools: Pools in use.
        linker_regions: RAM of FSBL and Appli.
        external_regions: Regions of the external RAM.
        cache_line: Bytes of a cache line; memory shared by NPU and CPU begins and ends on one.
        models: Relocatable models; without any, the networks are linked into the Appli, and `images`
            are their weights.
        maps_external_ram: Linked networks have weights, activations or buffers in external RAM, which
            the Appli must map. Installed models state themselves if they need it.
    """

    application: str
    board: str
    profile: str
    networks: tuple[PlannedNetwork, ...]
    images: tuple[PlannedImage, ...]
    banks: tuple[PlannedBank, ...]
    pools: tuple[PoolUse, ...]
    linker_regions: tuple[PlannedRegion, ...]
    external_regions: tuple[PlannedRegion, ...]
    cache_line: int
    models: tuple[PlannedModel, ...] = ()
    maps_external_ram: bool = False

    def flash_addresses(self) -> dict[Content, int]:
        """Return the addresses of all contents that the plan places in a flash slot."""
        addresses = {Content("weights", image.network, image.file): image.source for image in self.images}
        addresses |= {Content("model", model.network): model.slots[0].file for model in self.models}
        addresses |= {
            Content("params", model.network): model.slots[0].params for model in self.models if model.params_file
        }
        addresses |= {
            Content("vectors", each.name): each.vectors.source for each in self.networks if each.vectors.slot_file
        }
        return addresses


def application_name(models: Sequence[str]) -> str:
    """Return the name of an application, which is the name of a folder.

    A folder's name may have 255 bytes. The name of an application with very many models is cut off, and
    ends with digits of the SHA-256 of all names.

    Args:
        models: Names of the models; empty for an application of third-party programs.
    """
    name = "+".join(models) or "programs"
    if len(name) <= _LONGEST_NAME:
        return name
    return f"{name[: _LONGEST_NAME - 1 - _DIGITS]}-{hashlib.sha256(name.encode()).hexdigest()[:_DIGITS]}"


def plan_json(plan: MemoryPlan) -> str:
    """Return the text of memory_plan.json."""
    return to_json(asdict(plan))


def read_plan(path: Path) -> MemoryPlan:
    """Read memory_plan.json.

    Raises:
        N6Error: N6-FILE-002 if the file cannot be read; N6-PLAN-006 if it is not a memory plan.
    """
    try:
        return decode_json(read_bytes(path), MemoryPlan)
    except ValueError as error:
        raise N6Error("N6-PLAN-006", f"is not a memory plan: {error}", where=path.name) from error
