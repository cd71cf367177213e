"""Weights at other places in flash reduce the slots of the board."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st
from n6build.base.span import Span
from n6build.describe.hardware.boards import load_board
from n6build.describe.hardware.slots import flash_of, slots_around, slots_with_vectors, vectors_slot, weights_slot

BOARD = flash_of(load_board("nucleo-n657"))
SECTOR = BOARD.nor.sector
SECTORS = BOARD.nor.size // SECTOR
SLOTS = dict(BOARD.slots.items())


def test_weights_in_their_slot_change_nothing() -> None:
    assert slots_around(BOARD, []) == SLOTS
    assert slots_around(BOARD, [Span(0x7100_0000, 100), Span(0x7200_0000, 1 << 20)]) == SLOTS


def test_others_get_a_slot_that_ends_the_one_before() -> None:
    slots = slots_around(BOARD, [Span(0x7018_0000, 100), Span(0x7100_0000, 100)])
    assert (slots["appli"].end, slots["weights at 0x70180000"].end) == (0x7018_0000, SLOTS["vectors"].address)
    assert {name: slots[name] for name in ("fsbl", "vectors", "weights")} == {
        name: SLOTS[name] for name in ("fsbl", "vectors", "weights")
    }


def test_a_slot_whose_start_is_covered_begins_behind() -> None:
    slots = slots_around(BOARD, [Span(0x7038_0000, 0x70F0_0001 - 0x7038_0000)])
    assert (slots["vectors"].address, slots["vectors"].end) == (0x70F1_0000, SLOTS["vectors"].end)
    assert slots["weights at 0x70380000"].end == 0x70F1_0000


@given(
    cuts=st.lists(st.integers(0, SECTORS), unique=True, max_size=6).map(sorted),
    short=st.integers(0, SECTOR - 1),
)
def test_no_two_slots_overlap(cuts: list[int], short: int) -> None:
    spans = [
        Span(BOARD.nor.base + begin * SECTOR, (end - begin) * SECTOR - short)
        for begin, end in zip(cuts[::2], cuts[1::2], strict=False)
    ]
    slots = slots_around(BOARD, [span for span in spans if weights_slot(BOARD, span.address) != "weights"])
    ordered = sorted((slot for slot in slots.values() if slot.size), key=lambda slot: slot.address)
    for slot, behind in itertools.pairwise(ordered):
        assert slot.end <= behind.address
    assert all(slot.address % SECTOR == 0 and slot.size % SECTOR == 0 for slot in ordered)
    for name, slot in SLOTS.items():
        assert slot.address <= slots[name].address <= slots[name].end <= slot.end


AREAS = (SLOTS["vectors"], SLOTS["weights"])


@given(
    cuts=st.lists(st.integers(0, SECTORS), unique=True, max_size=6).map(sorted),
    needed=st.integers(0, SECTORS).map(lambda sectors: sectors * SECTOR),
)
def test_vectors_get_free_room_of_their_slot_and_that_of_weights(cuts: list[int], needed: int) -> None:
    spans = [
        Span(BOARD.nor.base + begin * SECTOR, (end - begin) * SECTOR)
        for begin, end in zip(cuts[::2], cuts[1::2], strict=False)
    ]
    room = vectors_slot(BOARD, spans, needed)
    assert all(room.end <= span.address or span.end <= room.address for span in spans) or not room.size
    assert AREAS[0].address <= room.address <= room.end <= AREAS[1].end
    if needed <= slots_around(BOARD, spans)["vectors"].size:
        assert room == slots_around(BOARD, spans)["vectors"]
    elif needed <= room.size and needed:
        slots = slots_with_vectors(BOARD, spans, [Span(room.address, needed)])
        assert slots["vectors"].address <= room.address <= room.address + needed <= slots["vectors"].end
        assert slots["vectors"].end <= slots["weights"].address or slots["weights"].end <= slots["vectors"].address


def test_without_a_word_of_vectors_slots_stay_as_they_are() -> None:
    inside = Span(SLOTS["vectors"].address, 100)
    assert slots_with_vectors(BOARD, [], []) == slots_with_vectors(BOARD, [], [inside]) == SLOTS
