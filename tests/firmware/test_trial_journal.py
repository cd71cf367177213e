"""A board's memory of its images survives a power cut at any byte.

No image is started more often than allowed.
"""

from __future__ import annotations

import ctypes
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firmware.host_journal import (
    BEGINS,
    CONFIRMED,
    COPY_BYTES,
    ENTRIES,
    FAILED,
    GIVEN_UP,
    HAS_FAILED,
    NO_ROOM,
    RECORD_BYTES,
    RECORDS,
    TRYING,
    WORKS,
    Journal,
    Power,
    Record,
    build,
    states,
)

MODEL, OTHER = 0xC0FFEE, 0xBEEF
OLD, NEW = 1, 2
STARTS = 3


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return build(tmp_path_factory.mktemp("trial"))


def write_number(journal: Journal, number: int) -> bool:
    record = journal.read()
    record.entries[0] = (MODEL, number, CONFIRMED, 0)
    return journal.write(record)


def number_in(journal: Journal) -> int:
    """Return the number that was written last, or 0."""
    return int(journal.read().entries[0].image)


def journal_after(library: ctypes.CDLL, writes: int) -> Journal:
    journal = Journal(library)
    for number in range(1, writes + 1):
        assert write_number(journal, number)
        assert number_in(journal) == number
    return journal


# The states go from an empty journal until both copies are full and one begins anew. ERASING are those in
# which a copy is erased.
EVERY_STATE = range(2 * RECORDS + 1)
ERASING = EVERY_STATE[::RECORDS]


@pytest.mark.parametrize(
    ("backwards", "states_before"),
    [(False, EVERY_STATE), (True, ERASING)],
    ids=["from the start", "erased from the end"],
)
def test_a_cut_at_any_byte_leaves_the_old_record_or_the_new_one(
    library: ctypes.CDLL, backwards: bool, states_before: range
) -> None:
    tried = 0
    for writes in states_before:
        before = bytes(journal_after(library, writes).content)
        whole = Journal(library)
        whole.content[:] = list(before)
        assert write_number(whole, writes + 1)
        for cut in range(whole.power.used):
            journal = Journal(library)
            journal.content[:] = list(before)
            journal.power = Power(cut, backwards)
            assert not write_number(journal, writes + 1)
            # The last bytes of a record may equal erased flash, so that the new record is complete without
            # them.
            assert number_in(journal) in (writes, writes + 1), (writes, cut)
            journal.power = Power()
            assert write_number(journal, 99), (writes, cut)
            assert number_in(journal) == 99
            tried += 1
    assert tried == len(states_before) * RECORD_BYTES + len(ERASING) * COPY_BYTES


@settings(max_examples=200, deadline=None)
@given(
    st.integers(0, 2 * RECORDS + 1),
    st.integers(0, COPY_BYTES + RECORD_BYTES - 1),
    st.integers(0, 255),
    st.booleans(),
)
def test_a_byte_that_the_power_went_in_may_hold_anything_between(
    library: ctypes.CDLL, writes: int, cut: int, mask: int, backwards: bool
) -> None:
    journal = journal_after(library, writes)
    journal.torn = lambda old, wanted: (old & wanted) | ((old ^ wanted) & mask)
    journal.power = Power(cut, backwards)
    written = write_number(journal, writes + 1)
    assert number_in(journal) in ((writes + 1,) if written else (writes, writes + 1))
    journal.power = Power()
    assert write_number(journal, 99)
    assert number_in(journal) == 99


@settings(max_examples=100, deadline=None)
@given(st.binary(min_size=2 * COPY_BYTES, max_size=2 * COPY_BYTES))
def test_flash_of_garbage_is_a_journal_of_nothing_that_can_be_written(library: ctypes.CDLL, content: bytes) -> None:
    journal = Journal(library)
    journal.content[:] = list(content)
    assert states(journal.read()) == {}
    assert write_number(journal, 1)
    assert number_in(journal) == 1


def test_a_flash_that_does_not_keep_it_is_said(library: ctypes.CDLL) -> None:
    journal = journal_after(library, 2)
    journal.power = Power(0)
    assert not write_number(journal, 3)
    assert number_in(journal) == 2


def test_sequence_numbers_wrap(library: ctypes.CDLL) -> None:
    journal = journal_after(library, RECORDS)
    for index in range(RECORDS):
        record = Record.from_buffer_copy(bytes(journal.content), index * RECORD_BYTES)
        record.sequence = (0xFFFFFFFF + index - RECORDS + 1) % (1 << 32)
        record.crc32 = zlib.crc32(bytes(record)[:-4])
        journal.content[index * RECORD_BYTES : (index + 1) * RECORD_BYTES] = list(bytes(record))
    assert write_number(journal, 50)
    assert journal.read().sequence == 0
    assert number_in(journal) == 50


# The rules of trials.


def test_a_new_image_is_started_a_few_times_and_then_never(library: ctypes.CDLL) -> None:
    journal, record = Journal(library), Record()
    verdicts = [journal.judge(record, MODEL, NEW, STARTS) for _ in range(STARTS + 2)]
    assert verdicts == [*[BEGINS] * STARTS, GIVEN_UP, HAS_FAILED]
    assert states(record) == {(MODEL, NEW): (FAILED, STARTS)}
    assert journal.judge(record, OTHER, NEW, STARTS) == BEGINS


def test_a_confirmed_image_is_started_whenever_one_wants(library: ctypes.CDLL) -> None:
    journal, record = Journal(library), Record()
    record.entries[3] = (MODEL, OLD, CONFIRMED, 1)
    assert [journal.judge(record, MODEL, OLD, STARTS) for _ in range(5)] == [WORKS] * 5


def test_images_that_are_gone_are_forgotten(library: ctypes.CDLL) -> None:
    journal, record = Journal(library), Record()
    for image in range(ENTRIES):
        assert journal.judge(record, MODEL if image else OTHER, image, STARTS) == BEGINS
    assert journal.judge(record, MODEL, 77, STARTS) == NO_ROOM
    journal.keep(record, MODEL, [3, 5])
    assert set(states(record)) == {(OTHER, 0), (MODEL, 3), (MODEL, 5)}
    assert journal.judge(record, MODEL, 77, STARTS) == BEGINS


def boot(journal: Journal, works: dict[int, bool], started: list[int]) -> int | None:
    """Start the newest possible image first, as the firmware does.

    Args:
        started: Receives one image for each start on trial.

    Returns:
        The image that runs, or None if the board resets.
    """
    record = journal.read()
    for image in (NEW, OLD):
        verdict = journal.judge(record, MODEL, image, STARTS)
        if verdict == WORKS:
            return image
        if verdict == GIVEN_UP and not journal.write(record) and journal.power.is_off:
            return None
        if verdict == BEGINS:
            if not journal.write(record):
                return None
            started.append(image)
            if not works[image]:
                return None
            for entry in record.entries:
                if entry.image == image and entry.state == TRYING:
                    entry.state = CONFIRMED
            journal.write(record)
            return None if journal.power.is_off else image
    return None


@settings(max_examples=150, deadline=None)
@given(st.booleans(), st.lists(st.integers(1, 2 * RECORD_BYTES + COPY_BYTES), max_size=6), st.integers(0, 5))
def test_however_often_the_power_goes_the_board_ends_with_an_image_that_works(
    library: ctypes.CDLL, new_works: bool, cuts: list[int], written_before: int
) -> None:
    journal = Journal(library)
    for _ in range(written_before + 1):
        record = journal.read()
        record.entries[0] = (MODEL, OLD, CONFIRMED, 1)
        assert journal.write(record)
    started: list[int] = []
    running: list[int | None] = []
    for cut in [*cuts, *[None] * (STARTS + 1)]:
        journal.power = Power(cut)
        running.append(boot(journal, {OLD: True, NEW: new_works}, started))
    assert started.count(NEW) <= STARTS
    assert started.count(OLD) == 0
    if not new_works:
        assert running[-1] == OLD
    else:
        # The power may have gone before each confirmation.
        assert running[-1] in (OLD, NEW)
        assert running[-1] == NEW or len(cuts) >= STARTS
