"""The memory plan joins a compiled network and a board. All sizes are bytes; addresses are of the secure alias."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from n6build.boards import Board
from n6build.errors import N6Error
from n6build.files import read_bytes, to_json
from n6build.memory_plan.slot_image import TRAILER_BYTES, trailer_offset
from n6build.memory_plan.vectors import VectorSet
from n6build.network.artifacts import NetworkArtifacts
from n6build.soc import Memory, Soc, field_bits


@dataclass(frozen=True)
class PlannedImage:
    """Initializers of one pool. source: in flash. destination: where the network reads them; equal to source: in place.

    signature: what the trailer in flash has to carry, so that the image of another network is refused.
    """

    pool: str
    file: str
    source: int
    destination: int
    bytes: int
    signature: int

    @property
    def in_place(self) -> bool:
        return self.source == self.destination


@dataclass(frozen=True)
class PlannedBank:
    """A RAM bank to power: its bit in RCC MEMENR, its RAMCFG control register, the words to test it with."""

    name: str
    rcc_enable_mask: int
    ramcfg_cr: int
    first_word: int
    last_word: int


@dataclass(frozen=True)
class PlannedVectors:
    source: int
    count: int
    bytes_each: int


@dataclass(frozen=True)
class PoolUse:
    """A pool as the network uses it: [address, address + used)."""

    name: str
    fname: str
    address: int
    size: int
    used: int


@dataclass(frozen=True)
class MemoryPlan:
    model: str
    board: str
    profile: str
    is_classification: bool
    images: tuple[PlannedImage, ...]
    banks: tuple[PlannedBank, ...]
    vectors: PlannedVectors
    pools: tuple[PoolUse, ...]


def make_plan(
    board: Board, profile: str, model: str, artifacts: NetworkArtifacts, vectors: VectorSet, *, is_classification: bool
) -> MemoryPlan:
    """Raises N6-PLAN-00x where network and board do not fit together."""
    uses = tuple(
        PoolUse(pool.name, pool.fname, pool.address, pool.size, pool.used_bytes)
        for pool in artifacts.pools
        if pool.used_bytes
    )
    for use in uses:
        _check_pool(board, use)
    images = _plan_images(board, artifacts)
    _check_vectors(board, vectors, artifacts)
    return MemoryPlan(
        model=model,
        board=board.name,
        profile=profile,
        is_classification=is_classification,
        images=images,
        banks=tuple(_bank(board.soc, name, memory) for name, memory in _banks_of(board.soc, uses)),
        vectors=PlannedVectors(board.slots.vectors.address, vectors.count, vectors.bytes_each),
        pools=uses,
    )


def _plan_images(board: Board, artifacts: NetworkArtifacts) -> tuple[PlannedImage, ...]:
    """One behind the other in the weights slot, each on a sector of its own; in place where the pool is that slot."""
    slot = board.slots.weights
    # An image fits as long as the code that reads it is the same; comments in it name sizes of pools and the like.
    signature = zlib.crc32(re.sub(rb"/\*.*?\*/", b"", read_bytes(artifacts.source), flags=re.DOTALL))
    images = []
    source = slot.address
    for image in artifacts.initializers:
        if slot.address <= image.address < slot.end:
            source = image.address
        end = source + trailer_offset(image.bytes) + TRAILER_BYTES
        if end > slot.end:
            raise N6Error(
                "N6-PLAN-001",
                f"the weights of pool {image.fname} need {end - slot.end} bytes more than slot 'weights' has ({slot.size})",
                where=f"boards/{board.name}/board.yaml: slots.weights",
            )
        images.append(PlannedImage(image.fname, image.file.name, source, image.address, image.bytes, signature))
        source = -(-end // board.nor.sector) * board.nor.sector
    return tuple(images)


def _banks_of(soc: Soc, uses: Sequence[PoolUse]) -> list[tuple[str, Memory]]:
    return [
        (name, memory)
        for name, memory in soc.memories.items()
        if memory.power and any(use.address < memory.end and memory.base < use.address + use.used for use in uses)
    ]


def _bank(soc: Soc, name: str, memory: Memory) -> PlannedBank:
    assert memory.power is not None
    _, mask = field_bits(soc.peripherals["RCC"].registers["MEMENR"].fields[memory.power.rcc_field])
    ramcfg = soc.peripherals["RAMCFG"]
    control = ramcfg.instances[memory.power.ramcfg] + ramcfg.registers["CR"].offset
    return PlannedBank(name, mask, control, memory.base, memory.end - 4)


def _check_pool(board: Board, use: PoolUse) -> None:
    """A pool has to lie in one memory of the chip or in a flash slot, and off the RAM that the Appli runs in."""
    end = use.address + use.used
    if any(slot.address <= use.address and end <= slot.end for _, slot in board.slots.items()):
        return
    found = board.soc.memory_at(use.address)
    if found is None or end > found[1].end:
        raise N6Error(
            "N6-PLAN-002",
            f"pool {use.name} (0x{use.address:08X}..0x{end:08X}) is not inside one memory of {board.title}",
            hint="choose a profile whose pools the board has: scons boards",
        )
    load = board.soc.load_and_run
    if use.address < load.load_address + load.max_bytes and load.load_address < end:
        raise N6Error(
            "N6-PLAN-003", f"pool {use.name} lies in the RAM that the Appli is loaded to", hint="use another pool"
        )


def _check_vectors(board: Board, vectors: VectorSet, artifacts: NetworkArtifacts) -> None:
    expected = sum(buffer.bytes for buffer in artifacts.inputs)
    if vectors.count and vectors.bytes_each != expected:
        raise N6Error(
            "N6-PLAN-004",
            f"a test vector has {vectors.bytes_each} bytes, the network's input {expected}",
            where=vectors.name,
            hint="the rows of 'inputs' must have the type and shape of the model's input",
        )
    total = trailer_offset(vectors.count * vectors.bytes_each) + TRAILER_BYTES
    if total > board.slots.vectors.size:
        raise N6Error(
            "N6-PLAN-005",
            f"{vectors.count} test vectors need {total - board.slots.vectors.size} bytes more than their slot has",
            where=f"boards/{board.name}/board.yaml: slots.vectors",
        )


def plan_json(plan: MemoryPlan) -> str:
    return to_json(asdict(plan))


def read_plan(path: Path) -> MemoryPlan:
    """Raises N6-PLAN-006 where the file is not a memory plan."""
    try:
        values = json.loads(read_bytes(path))
        values["images"] = tuple(PlannedImage(**image) for image in values["images"])
        values["banks"] = tuple(PlannedBank(**bank) for bank in values["banks"])
        values["vectors"] = PlannedVectors(**values["vectors"])
        values["pools"] = tuple(PoolUse(**pool) for pool in values["pools"])
        return MemoryPlan(**values)
    except (ValueError, TypeError, KeyError) as error:
        raise N6Error("N6-PLAN-006", f"is no memory plan: {error}", where=path.name) from error
