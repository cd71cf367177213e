"""The memory plan joins the networks of an application and a board. All sizes are bytes; addresses are of the secure alias."""

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
from n6build.memory_plan.slot_image import TRAILER_BYTES, trailer_offset
from n6build.reloc.slots import ModelSlot

# Of an application, in characters; what a file system takes is not much more than twice that.
_LONGEST_NAME = 100
_DIGITS = 8


@dataclass(frozen=True)
class Content:
    """What an image in flash is. network: name of its files. file: of weights, as stage 1 named it."""

    kind: Literal["weights", "vectors", "model", "params"]
    network: str
    file: str = ""


@dataclass(frozen=True)
class PlannedImage:
    """Initializers of one pool. network: that they are for. pool: file name of the pool. bytes: of the initializers, without
    the trailer behind them. relative: whether the address is given to the network at
    run time. source: in flash. destination: where
    the network reads them; equal to source: in place.

    claim_bytes: that a signature takes behind the trailer; 0 for images that are not signed.

    file: of the network compiler. slot_file: what is programmed. signature: what the trailer in flash has to carry, so that
    the image of another network is refused.
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
    claim_bytes: int = 0

    @property
    def in_place(self) -> bool:
        """Whether the network reads it from flash, without a copy."""
        return self.source == self.destination

    @property
    def source_end(self) -> int:
        """Address after the trailer, and after the claim of a signed image."""
        return self.source + trailer_offset(self.bytes) + TRAILER_BYTES + self.claim_bytes


# A stream engine may read this far behind a buffer: ST's compiler writes the end plus 64 as offset_limit of each. Its network in
# a bank that is full has been seen to read one byte of the next.
NPU_READ_AHEAD = 64


@dataclass(frozen=True)
class PlannedBank:
    """A RAM bank to power. name: of the memory. rcc_enable_mask: its bit in RCC MEMENR. ramcfg_cr: address of its RAMCFG
    control register. first_word, last_word: addresses of the words to test it with."""

    name: str
    rcc_enable_mask: int
    ramcfg_cr: int
    first_word: int
    last_word: int

    @property
    def span(self) -> Span:
        """Of the memory."""
        return Span(self.first_word, self.last_word + 4 - self.first_word)


@dataclass(frozen=True)
class PlannedVectors:
    """Test vectors of a network. slot_file: what is programmed, empty where there are none. source: address in flash. count:
    how many there are. bytes_each: of the inputs of one."""

    slot_file: str
    source: int
    count: int
    bytes_each: int


@dataclass(frozen=True)
class OwnBuffer:
    """An input or output that the network wants from the application. direction: which of both. bytes: of the buffer. index:
    among the inputs, or among the outputs. address: in external RAM; 0: the linker places it in the Appli's RAM."""

    direction: Literal["input", "output"]
    index: int
    bytes: int
    address: int = 0


@dataclass(frozen=True)
class PlannedNetwork:
    """model: its name. name: of the network's files. suffix: of its symbols in C. is_classification: whether its output is a
    class. vectors: for runs. own_buffers: that the application has to give. keeps_state: whether an inference goes on from the
    one before."""

    model: str
    name: str
    suffix: str
    is_classification: bool
    vectors: PlannedVectors
    own_buffers: tuple[OwnBuffer, ...]
    keeps_state: bool = False


@dataclass(frozen=True)
class PlannedModel:
    """A relocatable model. network: name of its files. file, params_file: what is programmed, the second empty where the
    weights are in the first. slots: A and, where it has two, B."""

    network: str
    file: str
    params_file: str
    slots: tuple[ModelSlot, ...]


@dataclass(frozen=True)
class PoolUse:
    """A pool as a network uses it: [address, address + used). network: that uses it. name: of the pool. fname: in names of
    its files. address: of the pool. size: bytes of the pool. used: bytes that the network needs, from the start."""

    network: str
    name: str
    fname: str
    address: int
    size: int
    used: int


@dataclass(frozen=True)
class PlannedRegion:
    """RAM that a program of ours is linked to, or a region of the external RAM as it is laid out for these networks. name: of
    the program or region. address: where it begins. size: bytes."""

    name: str
    address: int
    size: int

    @property
    def end(self) -> int:
        """The address behind it."""
        return self.address + self.size


@dataclass(frozen=True)
class MemoryPlan:
    """application: names of the models. board: its name. profile: of memory pools. networks: in the order of the application.
    images: of weights, in flash. banks: to power. pools: in use. linker_regions: RAM of FSBL and Appli. external_regions: of
    the external RAM. cache_line: bytes; what NPU and CPU share begins and ends on one. models: relocatable ones; without any
    the networks are linked into the Appli, and `images` are their weights. maps_external_ram: those have weights,
    activations or buffers in external RAM, which the Appli has to map; installed ones say themselves whether they want it."""

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
        """Of everything that the plan gives a place in a flash slot."""
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
    """models: their names; of none, it is programs of somebody else. Of very many, the first, with digits of the SHA-256 of all
    names: it is the name of a folder, which may have 255 bytes."""
    name = "+".join(models) or "programs"
    if len(name) <= _LONGEST_NAME:
        return name
    return f"{name[: _LONGEST_NAME - 1 - _DIGITS]}-{hashlib.sha256(name.encode()).hexdigest()[:_DIGITS]}"


def plan_json(plan: MemoryPlan) -> str:
    """Text of memory_plan.json."""
    values = asdict(plan)
    for image in values["images"]:
        if not image["claim_bytes"]:
            del image["claim_bytes"]
    return to_json(values)


def read_plan(path: Path) -> MemoryPlan:
    """Raises N6-FILE-002, N6-PLAN-006 where the file is not a memory plan."""
    try:
        return decode_json(read_bytes(path), MemoryPlan)
    except ValueError as error:
        raise N6Error("N6-PLAN-006", f"is not a memory plan: {error}", where=path.name) from error
