"""The flash slots of a board as an application uses them: weights that have to be elsewhere than in slot `weights` take room
from the others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from n6build.base.span import Span
from n6build.hardware.board import Board, Slot, Slots


@dataclass(frozen=True)
class NorArea:
    """The NOR without its part. base: of its memory-mapped window. size: bytes. sector: bytes that one erase covers."""

    base: int
    size: int
    sector: int

    @property
    def end(self) -> int:
        """The first address behind it."""
        return self.base + self.size


@dataclass(frozen=True)
class BoardFlash:
    """What of a board's description says where something goes in flash. name: of the board."""

    name: str
    nor: NorArea
    slots: Slots


def flash_of(board: Board) -> BoardFlash:
    """The flash of a board, as steps take it."""
    return BoardFlash(board.name, NorArea(board.nor.base, board.nor.size, board.nor.sector), board.slots)


def next_sector(flash: BoardFlash, address: int) -> int:
    """The first sector of the NOR that does not begin before `address`."""
    return -(-address // flash.nor.sector) * flash.nor.sector


def weights_slot(flash: BoardFlash, address: int) -> str:
    """Name of the slot of weights that begin at `address`: 'weights', or 'weights at 0x70180000' outside that slot."""
    slot = flash.slots.weights
    return "weights" if slot.address <= address < slot.end else f"weights at 0x{address:08X}"


def slots_around(flash: BoardFlash, weights: Iterable[Span]) -> dict[str, Slot]:
    """The board's slots by name, then one for each of `weights` that begins outside slot 'weights'.

    Such a slot reaches to the next one, or to the end of the NOR; a slot of the board ends where it begins. One whose start it
    covers begins behind it, on a sector boundary; its size is 0 where nothing is left.
    """
    own = [
        Span(each.address, next_sector(flash, each.end) - each.address)
        for each in sorted(weights, key=lambda each: each.address)
        if weights_slot(flash, each.address) != "weights"
    ]
    slots = {name: _without(slot, own) for name, slot in flash.slots.items()}
    starts = [*(slot.address for slot in slots.values()), *(span.address for span in own)]
    for span in own:
        end = min((start for start in starts if start >= span.end), default=max(flash.nor.end, span.end))
        slots[weights_slot(flash, span.address)] = Slot(span.address, end - span.address)
    return slots


def _without(slot: Slot, taken: Iterable[Span]) -> Slot:
    """What `taken`, sorted by address, leaves of a slot."""
    start, end = slot.address, slot.end
    for each in taken:
        if start < each.address < end:
            end = each.address
        elif each.address <= start < each.end:
            start = min(each.end, end)
    return Slot(start, end - start)
