"""The facts of a board's description that the checks use."""

from __future__ import annotations

from dataclasses import dataclass

from n6build.base.span import Span
from n6build.describe.hardware.board import Alias, Board
from n6build.describe.hardware.soc import Memory


@dataclass(frozen=True)
class CheckedBoard:
    """A board as the checks see it.

    Attributes:
        name: Name of the board.
        alias: Alias that the application runs in.
        nor: Address range of the NOR flash.
        memories: Memories of the chip that can hold code or data, by name.
        off: Names of memories that are off after a reset.
        external_ram: Address range of the external RAM, None if there is none.
        maps_external_ram: Whether the firmware maps the external RAM.
        regions: Regions of the external RAM that hold memory pools, by the pool's name in files.
        profiles: Profiles of memory pools that the board has.
        interrupts: Numbers of the NPU's interrupts, by name.
        file_heap: RAM inside the chip that a firmware reads files into, or None.
    """

    name: str
    alias: Alias
    nor: Span
    memories: dict[str, Span]
    off: tuple[str, ...]
    external_ram: Span | None
    maps_external_ram: bool
    regions: dict[str, str]
    profiles: tuple[str, ...]
    interrupts: dict[str, int]
    file_heap: Span | None


def checked_board(board: Board) -> CheckedBoard:
    """Return a board as the checks see it."""
    soc, ram = board.soc, board.external_ram
    memories = {name: memory for name, memory in soc.memories.items() if "WINDOW" not in name}
    return CheckedBoard(
        board.name,
        board.alias,
        Span(board.nor.base, board.nor.size),
        {name: Span(memory.base, memory.size) for name, memory in memories.items()},
        tuple(sorted(name for name, memory in memories.items() if _is_off(memory))),
        Span(soc.memories[ram.memory].base, ram.size) if ram else None,
        board.psram is not None,
        {pool.fname: pool.region for pool in board.pools.values() if pool.region},
        tuple(board.profiles()),
        {name: number for name, number in soc.interrupts.items() if name.startswith("NPU")},
        board.file_heap_span,
    )


def _is_off(memory: Memory) -> bool:
    """Return whether a memory is off after a reset."""
    return memory.power is not None or (memory.clock is not None and not memory.clock.on_after_reset)
