"""Flash slots of a board as an application uses them.

Weights that must be outside slot `weights` take room from the other slots.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from n6build.base.span import Span
from n6build.describe.hardware.board import Board, Slot, Slots


@dataclass(frozen=True)
class NorArea:
    """The address range of the NOR, without details of the part.

    Attributes:
        base: address of its memory-mapped window.
        size: bytes.
        sector: bytes that one erase covers.
    """

    base: int
    size: int
    sector: int

    @property
    def end(self) -> int:
        """The first address behind the NOR."""
        return self.base + self.size


@dataclass(frozen=True)
class BoardFlash:
    """The flash layout of a board. name: name of the board."""

    name: str
    nor: NorArea
    slots: Slots


def flash_of(board: Board) -> BoardFlash:
    """Return the flash layout of a board, as build steps take it."""
    return BoardFlash(board.name, NorArea(board.nor.base, board.nor.size, board.nor.sector), board.slots)


def next_sector(flash: BoardFlash, address: int) -> int:
    """Return the first sector of the NOR that does not begin before `address`."""
    return -(-address // flash.nor.sector) * flash.nor.sector


def weights_slot(flash: BoardFlash, address: int) -> str:
    """Return the name of the slot of weights that begin at `address`.

    The name is 'weights', or for example 'weights at 0x70180000' outside that slot.
    """
    slot = flash.slots.weights
    return "weights" if slot.address <= address < slot.end else f"weights at 0x{address:08X}"


def slots_around(flash: BoardFlash, weights: Iterable[Span]) -> dict[str, Slot]:
    """Return the board's slots, and one for each of `weights` outside slot 'weights'.

    The slots of the board come first. A slot for weights reaches to the next slot, or to the end of
    the NOR; a slot of the board ends where such weights begin. A slot whose start is covered by
    weights begins behind them, on a sector boundary; its size is 0 if no room is left.
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


def vectors_slot(flash: BoardFlash, weights: Sequence[Span], needed: int) -> Slot:
    """Return the slot of the test vectors, which may be room that weights leave.

    Args:
        flash: flash of the board.
        weights: images in flash; relocatable models take all of slot 'weights'.
        needed: bytes of the vectors, each set rounded up to sectors.

    Returns:
        The part of slot 'vectors' that weights leave free. If `needed` bytes do not fit into it,
        the room from there on through slot 'weights', or else the largest room in both slots. The
        result may still be too small.
    """
    slot = slots_around(flash, weights)["vectors"]
    if needed <= slot.size:
        return slot
    rooms = _rooms(flash, weights)
    grown = [Slot(slot.address, room.end - slot.address) for room in rooms if room.address <= slot.address < room.end]
    return next(
        (room for room in grown if needed <= room.size), max([*grown, slot, *rooms], key=lambda room: room.size)
    )


def slots_with_vectors(flash: BoardFlash, weights: Sequence[Span], vectors: Sequence[Span]) -> dict[str, Slot]:
    """Return the slots of the board around weights and test vectors.

    Args:
        flash: flash of the board.
        weights: images in flash, and data outside slot 'weights'.
        vectors: test vectors in flash, in their slot or in the room of `vectors_slot`.
    """
    slots = slots_around(flash, weights)
    if not vectors:
        return slots
    own, of_weights = slots["vectors"], slots["weights"]
    start, end = min(each.address for each in vectors), next_sector(flash, max(each.end for each in vectors))
    if own.address <= start and end <= own.end:
        return slots
    if of_weights.address < start < of_weights.end:
        slots |= {"vectors": Slot(start, of_weights.end - start)}
        slots |= {"weights": Slot(of_weights.address, start - of_weights.address)}
    else:
        slots |= {"vectors": Slot(start, end - start)}
        slots |= {"weights": Slot(max(end, of_weights.address), of_weights.end - max(end, of_weights.address))}
    return slots


def _rooms(flash: BoardFlash, taken: Sequence[Span]) -> list[Slot]:
    """Return the free parts of slots 'vectors' and 'weights', by address.

    The parts begin and end on sector boundaries. Adjacent slots count as one.
    """
    areas: list[Slot] = []
    for slot in sorted((flash.slots.vectors, flash.slots.weights), key=lambda each: each.address):
        if areas and areas[-1].end == slot.address:
            areas[-1] = Slot(areas[-1].address, areas[-1].size + slot.size)
        else:
            areas.append(slot)
    rooms = []
    for area in areas:
        start = area.address
        for span in sorted(taken, key=lambda each: each.address):
            if span.address < area.end and start < span.end:
                rooms.append(Slot(start, max(0, span.address // flash.nor.sector * flash.nor.sector - start)))
                start = next_sector(flash, span.end)
        rooms.append(Slot(start, max(0, area.end - start)))
    return [room for room in rooms if room.size]


def _without(slot: Slot, taken: Iterable[Span]) -> Slot:
    """Return the part of a slot that `taken`, sorted by address, leaves free."""
    start, end = slot.address, slot.end
    for each in taken:
        if start < each.address < end:
            end = each.address
        elif each.address <= start < each.end:
            start = min(each.end, end)
    return Slot(start, end - start)
