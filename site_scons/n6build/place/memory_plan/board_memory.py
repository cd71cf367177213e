"""Facts of a board's description that the memory plan is made from."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from n6build.base.span import Span
from n6build.compile.board_pools import external_regions
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.program_places import ProgramPlaces, places_of
from n6build.describe.hardware.slots import BoardFlash, flash_of
from n6build.describe.hardware.soc import Memory, Soc, field_bits
from n6build.place.memory_plan.plan import PlannedBank, PlannedRegion


@dataclass(frozen=True)
class BoardMemory:
    """Memory of a board for the memory plan.

    Attributes:
        flash: Flash slots of the board.
        programs: Places of FSBL and Appli.
        cache_line: Bytes of a cache line.
        banks: RAM banks that are off after reset, sorted by address.
        psram: Window of the external RAM that the firmware maps; None if it maps none.
        external_regions: Regions of the external RAM as laid out for the networks.
        pool_region: Region with memory pools; None if the firmware maps none.
    """

    flash: BoardFlash
    programs: ProgramPlaces
    cache_line: int
    banks: tuple[PlannedBank, ...]
    psram: Span | None
    external_regions: tuple[PlannedRegion, ...]
    pool_region: PlannedRegion | None


@dataclass(frozen=True)
class ModelMemory:
    """A memory that relocatable models may use.

    Attributes:
        name: Name of the memory.
        base: Address of the memory.
        size: Size in bytes.
        power: RAM bank to power; None if the memory is always on.
    """

    name: str
    base: int
    size: int
    power: PlannedBank | None


@dataclass(frozen=True)
class ModelsMemory:
    """Memory of a board for relocatable models.

    Attributes:
        memories: Memories that models may use, sorted by address.
        executable_ram: Bytes of the Appli's executable RAM for all models.
        external: Names of regions of the external RAM with memory pools of this board, if the firmware
            maps it.
    """

    memories: tuple[ModelMemory, ...]
    executable_ram: int
    external: tuple[str, ...]


def memory_of(board: Board, sizes: Mapping[str, int]) -> BoardMemory:
    """Return the memory of a board for the memory plan.

    Args:
        board: Board of the application.
        sizes: Sizes in bytes of memory pools that models have changed.

    Raises:
        N6Error: N6-POOL-00x if the regions of the external RAM cannot be laid out.
    """
    soc, ram = board.soc, board.external_ram
    powered = [(name, memory) for name, memory in soc.memories.items() if memory.power]
    window = soc.memories[ram.memory] if ram and ram.psram else None
    spans = external_regions(board, sizes).items()
    regions = tuple(PlannedRegion(name, span.address, span.size) for name, span in spans)
    return BoardMemory(
        flash_of(board),
        places_of(soc),
        soc.cache_line,
        tuple(_bank(soc, *each) for each in sorted(powered, key=lambda each: each[1].base)),
        Span(window.base, window.size) if window else None,
        regions,
        region_of_pools(regions, _mapped_regions(board)),
    )


def _mapped_regions(board: Board) -> set[str]:
    """Return the names of mapped external RAM regions that have memory pools."""
    return {pool.region for pool in board.pools.values() if pool.region} if board.psram else set()


def region_of_pools(regions: Sequence[PlannedRegion], mapped: Collection[str]) -> PlannedRegion | None:
    """Return the region of the external RAM that memory pools use, or None.

    Args:
        regions: Regions as they are laid out.
        mapped: Names of the regions with pools, as far as the firmware maps them.
    """
    return next((region for region in regions if region.name in mapped), None)


def models_memory_of(board: Board) -> ModelsMemory:
    """Return the memory of a board for relocatable models."""
    soc = board.soc
    memories = {pool.memory: soc.memories[pool.memory] for pool in soc.pools.values()}
    return ModelsMemory(
        tuple(
            ModelMemory(name, memory.base, memory.size, _bank(soc, name, memory) if memory.power else None)
            for name, memory in sorted(memories.items(), key=lambda each: each[1].base)
        ),
        soc.relocatable.executable_ram,
        tuple(sorted(_mapped_regions(board))),
    )


def _bank(soc: Soc, name: str, memory: Memory) -> PlannedBank:
    assert memory.power is not None
    _, mask = field_bits(soc.peripherals["RCC"].registers["MEMENR"].fields[memory.power.rcc_field])
    ramcfg = soc.peripherals["RAMCFG"]
    control = ramcfg.instances[memory.power.ramcfg] + ramcfg.registers["CR"].offset
    return PlannedBank(name, mask, control, memory.base, memory.end - 4)
