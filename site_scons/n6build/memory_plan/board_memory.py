"""What of a board's description the memory plan is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from n6build.base.span import Span
from n6build.hardware.board import Board
from n6build.hardware.program_places import ProgramPlaces, places_of
from n6build.hardware.slots import BoardFlash, flash_of
from n6build.hardware.soc import Memory, Soc, field_bits
from n6build.memory_plan.plan import PlannedBank, PlannedRegion
from n6build.network.pools.board_pools import external_regions


@dataclass(frozen=True)
class BoardMemory:
    """banks: of RAM that are off after reset, by address. psram: the window of the external RAM that the firmware maps, None if
    it maps none. external_regions: as they are laid out for the networks. pool_region: the one of them with memory pools, None
    where the firmware maps none."""

    flash: BoardFlash
    programs: ProgramPlaces
    cache_line: int
    banks: tuple[PlannedBank, ...]
    psram: Span | None
    external_regions: tuple[PlannedRegion, ...]
    pool_region: PlannedRegion | None


@dataclass(frozen=True)
class ModelMemory:
    """A memory that relocatable models may use. power: None if it is always on."""

    name: str
    base: int
    size: int
    power: PlannedBank | None


@dataclass(frozen=True)
class ModelsMemory:
    """memories: by address. executable_ram: bytes of the Appli for all models. external: names of the regions of the external
    RAM that memory pools of this board lie in, as far as the firmware maps it."""

    memories: tuple[ModelMemory, ...]
    executable_ram: int
    external: tuple[str, ...]


def memory_of(board: Board, sizes: Mapping[str, int]) -> BoardMemory:
    """sizes: bytes of the memory pools for which models want another size. Raises N6-POOL-00x if the regions of the external RAM
    cannot be laid out."""
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
        next((region for region in regions if region.name in _mapped_regions(board)), None),
    )


def _mapped_regions(board: Board) -> set[str]:
    """Names of the regions of the external RAM that memory pools lie in, if the firmware maps it."""
    return {pool.region for pool in board.pools.values() if pool.region} if board.psram else set()


def models_memory_of(board: Board) -> ModelsMemory:
    """What relocatable models get of a board."""
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
