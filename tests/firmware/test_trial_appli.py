"""Two Applis: an update goes to the unused slot, and the board always starts.

Whenever the power goes, the board starts an Appli that works.
"""

from __future__ import annotations

import random
import subprocess
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from c_assertions import assertions
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from n6build.base.c_format import Constant, Enumeration, Format
from n6build.base.errors import N6Error
from n6build.base.paths import FIRMWARE
from n6build.board.flash.appli_update import plan_appli, stored_appli
from n6build.board.flash.trial_journal import APPLI, COPIES, ENTRIES, ENTRY, MAGIC, RECORD, State
from n6build.describe.formats.appli_trailer import ALIGNMENT, TRAILER
from n6build.describe.formats.boot_header import BASE, HEADER_BYTES

from firmware.cut_updates import CUTS, Tally, fill_journal, worn_sectors
from firmware.host_fsbl import (
    BY_PROGRAM,
    BY_WATCHDOG,
    JOURNAL,
    NONE,
    OFF,
    POWERED,
    SECTOR,
    STARTS,
    TRIAL,
    A,
    B,
    HostBoard,
    appli,
    host_board,
    record_of,
)

OLD, NEW = appli(1), appli(2)
# Only each seventh byte of an erase is tried, because all of them take the same path.
STRIDE = 7


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostBoard]:
    with host_board(tmp_path_factory.mktemp("fsbl")) as board:
        yield board


@pytest.fixture
def board(host: HostBoard) -> HostBoard:
    """Return a board with the old Appli in slot A, confirmed."""
    host.erase_all()
    host.program(host.plan(OLD))
    assert (host.boot(), host.confirm()) == (A.address, True)
    return host


def test_a_board_without_an_appli_gets_it_in_slot_a(host: HostBoard) -> None:
    host.erase_all()
    assert host.boot() == NONE
    update = host.plan(OLD)
    assert (update.letter, update.revision, update.is_new) == ("a", 0, True)


def test_a_new_appli_goes_to_the_slot_that_is_not_in_use_again_and_again(board: HostBoard) -> None:
    for number, letter in enumerate("bababa", 1):
        update = board.plan(appli(10 + number))
        assert (update.letter, update.revision, update.is_new) == (letter, number, True)
        board.program(update)
        assert (board.boot(), board.confirm()) == (update.address, True)
        assert not board.plan(appli(10 + number)).is_new


def test_a_new_appli_is_started_a_few_times_and_then_the_old_one(board: HostBoard) -> None:
    board.program(board.plan(NEW))
    assert [board.boot() for _ in range(STARTS + 2)] == [B.address] * STARTS + [A.address] * 2
    assert "slot=b refused N6-FW-080 started on trial and was not confirmed" in board.said()
    # The new Appli stays in its slot, and programming it again starts a new trial.
    again = board.plan(NEW)
    assert (again.letter, again.revision, again.is_new) == ("b", 2, True)
    board.program(again)
    assert board.boot() == B.address


def test_an_appli_that_is_programmed_before_the_last_one_has_run_takes_its_place(board: HostBoard) -> None:
    board.program(board.plan(NEW))
    update = board.plan(appli(3))
    assert (update.letter, update.revision) == ("b", 2)


def test_nothing_confirmed_leaves_the_newest_that_has_not_failed(host: HostBoard) -> None:
    host.erase_all()
    host.program(host.plan(OLD))
    assert host.plan(NEW).letter == "b"
    assert [host.boot() for _ in range(STARTS)] == [A.address] * STARTS
    assert "last-resort" not in host.said()
    assert host.boot() == A.address
    assert "slot=a refused N6-FW-080" in host.said()
    assert "n6 trial appli last-resort" in host.said()
    # The board has no other Appli, so that an interrupted update leaves this one.
    assert host.plan(NEW).letter == "b"


def forged(board: HostBoard, state: State, starts: int = 0, others: int = 0) -> None:
    """Write a record with a valid CRC that gives both Applis this state.

    Args:
        others: Entries of other subjects in front of those, which leave less room.
    """
    images = [board.read(slot.address, slot.size) for slot in (A, B)]
    entries = b"".join(ENTRY.pack(subject=7 + n, image=n, state=State.CONFIRMED, starts=0) for n in range(others))
    for image in images:
        entries += ENTRY.pack(subject=APPLI, image=identity_of(image), state=state, starts=starts)
    entries = entries[: ENTRY.size * ENTRIES]
    board.write(JOURNAL.address + SECTOR - RECORD.size, record_of(1000, entries))


def identity_of(slot: bytes) -> int:
    """Return the number by which the journal knows an Appli with a trailer."""
    end = -(-(HEADER_BYTES + BASE.unpack(slot)["image_bytes"]) // ALIGNMENT) * ALIGNMENT + TRAILER.size
    return int.from_bytes(slot[end - 4 : end], "little")


@pytest.mark.parametrize(
    ("state", "starts", "others", "reason"),
    [
        (State.FAILED, 0, 0, "N6-FW-080"),
        (State.TRYING, 0xFFFF, 0, "N6-FW-080"),
        (State.UNKNOWN, 0, ENTRIES, "N6-FW-082"),
    ],
)
def test_one_forged_record_does_not_stop_a_board(
    board: HostBoard, state: State, starts: int, others: int, reason: str
) -> None:
    board.program(board.plan(NEW))
    assert (board.boot(), board.confirm()) == (B.address, True)
    forged(board, state, starts, others)
    assert [board.boot() for _ in range(STARTS + 2)] == [B.address] * (STARTS + 2)
    assert f"slot=b refused {reason}" in board.said()
    assert "n6 trial appli last-resort" in board.said()
    # The Appli works, and the journal records it if it has room.
    assert board.confirm()
    assert board.boot() == B.address
    assert ("last-resort" in board.said()) == (others > 0)


def test_the_last_resort_is_not_counted_and_changes_the_slot_after_a_reset_by_the_appli(board: HostBoard) -> None:
    board.program(board.plan(NEW))
    forged(board, State.FAILED)
    before = board.content()
    assert board.boot() == B.address
    assert board.watched()
    for cause in (BY_WATCHDOG, BY_PROGRAM):
        board.reset_by(cause)
        assert board.boot() == A.address
        board.reset_by(0)
        assert board.boot() == B.address
    # Boards that reset for years do not wear their journal.
    assert board.content() == before


def test_a_journal_that_cannot_be_written_does_not_stop_a_board(host: HostBoard) -> None:
    host.erase_all()
    host.program(host.plan(OLD))
    host.protect(True)
    assert [host.boot() for _ in range(STARTS + 2)] == [A.address] * (STARTS + 2)
    assert "slot=a refused N6-FW-081" in host.said()
    host.protect(False)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=2 * SECTOR), st.booleans(), st.sampled_from(("ab", "a", "b")), st.integers(0, 1 << 32))
def test_no_content_of_the_journal_stops_a_board(
    host: HostBoard, content: bytes, is_whole: bool, slots: str, seed: int
) -> None:
    host.erase_all()
    for number, slot in enumerate((A, B)):
        if "ab"[number] in slots:
            host.write(slot.address, stored_appli(appli(number), number))
    source = random.Random(seed)
    for at in range(0, len(content) - RECORD.size, RECORD.size):
        record = bytearray(content[at : at + RECORD.size])
        if is_whole:
            record[: len(record)] = random_record(host, source)
        host.write(JOURNAL.address + at, bytes(record))
    for _ in range(2 * STARTS + 2):
        started = host.boot()
        assert started in {slot.address for letter, slot in zip("ab", (A, B), strict=True) if letter in slots}


def random_record(host: HostBoard, source: random.Random) -> bytes:
    """Return a random record with a valid CRC, with entries of the Applis."""
    entries = b""
    for _ in range(ENTRIES):
        image = source.choice(
            [identity_of(host.read(slot.address, slot.size)) for slot in (A, B)] + [source.randrange(1 << 32)]
        )
        subject = source.choice((APPLI, APPLI, source.randrange(1 << 32)))
        state = source.choice((*State, source.randrange(1 << 16)))
        entries += ENTRY.pack(subject=subject, image=image, state=state, starts=source.choice((0, 1, 3, 0xFFFF)))
    return record_of(source.randrange(1 << 32), entries)


def test_an_appli_without_a_trailer_is_started_and_is_the_oldest(host: HostBoard) -> None:
    host.erase_all()
    host.write(A.address, OLD)
    assert (host.boot(), host.confirm()) == (A.address, True)
    update = host.plan(NEW)
    assert (update.letter, update.revision) == ("b", 1)
    assert not host.plan(OLD).is_new


def test_a_damaged_appli_is_not_counted_as_started(board: HostBoard) -> None:
    board.program(board.plan(NEW))
    board.write(B.address + 4000, b"\xff")
    assert board.boot() == A.address
    assert "slot=b refused N6-FW-013" in board.said()
    assert {each.state for each in board.remembered()} == {State.CONFIRMED}


def test_revisions_wrap(host: HostBoard) -> None:
    host.erase_all()
    host.write(A.address, stored_appli(OLD, 0xFFFF_FFFF))
    assert (host.boot(), host.confirm()) == (A.address, True)
    update = host.plan(NEW)
    assert (update.letter, update.revision) == ("b", 0)
    host.program(update)
    assert host.boot() == B.address


def test_an_appli_whose_trailer_does_not_fit_is_refused(board: HostBoard) -> None:
    room = B.size - len(appli(0, 0 + 12)) + 12
    assert plan_appli(appli(4, room - 16), (A, B), TRIAL, board.read, "appli_image.bin").is_new
    with pytest.raises(N6Error, match="N6-TRIAL-003.*with its trailer it is 16 bytes larger than slot 'appli'"):
        plan_appli(appli(4, room), (A, B), TRIAL, board.read, "appli_image.bin")


# Power cuts.


def torn(before: bytes, after: bytes) -> Iterator[bytes]:
    """Yield the states of a sector during an update.

    The states are: as before, partly erased, erased, partly programmed, done.
    """
    half = len(after) // 2
    yield before
    yield b"\xff" * half + before[half:]
    yield before[:half] + b"\xff" * half
    yield b"\xff" * len(after)
    yield after[:half] + b"\xff" * half
    yield after[:-1] + b"\xff"
    yield after


@pytest.mark.parametrize("backwards", [False, True])
def test_the_power_goes_while_an_appli_is_programmed(board: HostBoard, backwards: bool) -> None:
    """The board falls back to the old Appli, however far the new one got.

    The update can then be repeated.
    """
    board.program(board.plan(appli(9, 5500)))
    assert (board.boot(), board.confirm()) == (B.address, True)
    board.program(board.plan(appli(8, 5200)))
    assert (board.boot(), board.confirm()) == (A.address, True)
    update = board.plan(NEW)
    assert update.letter == "b"
    before = board.content()
    sectors = board.sectors(update)
    done: list[tuple[int, bytes]] = []
    for address, data in reversed(sectors) if backwards else sectors:
        for state in torn(board.read(address, SECTOR), data):
            board.restore(before)
            for place, written in (*done, (address, state)):
                board.write(place, written)
            interrupted = board.content()
            assert board.ends_with() == A.address
            board.restore(interrupted)
            assert board.plan(NEW).letter == "b"
            board.program(board.plan(NEW))
            assert board.boot() == B.address
        board.restore(before)
        done.append((address, data))
    assert len(done) == 2


@pytest.mark.parametrize("is_full", [False, True])
def test_the_power_goes_at_any_byte_that_the_trial_of_an_appli_writes(board: HostBoard, is_full: bool) -> None:
    """The Appli never confirms itself.

    Each of its starts, and the giving up, is cut once at each byte.
    """
    if is_full:
        fill_journal(board)
    board.program(board.plan(NEW))
    tried = 0
    for _ in range(STARTS + 1):
        before = board.content()
        expected = board.boot()
        written = board.used()
        for power in range(0, written, 1 if written < SECTOR else STRIDE):
            board.restore(before)
            assert board.boot(power) == OFF
            started = [board.boot() for _ in range(STARTS + 2)]
            assert started.count(B.address) <= STARTS
            assert started[-1] == A.address
            tried += 1
        board.restore(before)
        assert board.boot() == expected
    assert board.boot() == A.address
    erased = len(range(0, SECTOR + RECORD.size, STRIDE)) - RECORD.size if is_full else 0
    assert tried == (STARTS + 1) * RECORD.size + erased


@pytest.mark.parametrize("cut", CUTS.values(), ids=lambda cut: cut.__name__)
def test_whatever_is_cut_or_damaged_something_valid_starts(host: HostBoard, cut: Callable[..., Tally]) -> None:
    """tools/bench.py cuts tries all of them."""
    tally = cut(host, 101 if cut is not worn_sectors else 4)
    assert tally.cuts > 50
    assert tally.stopped == 0


def test_the_power_goes_at_any_byte_of_a_confirmation(board: HostBoard) -> None:
    board.program(board.plan(NEW))
    assert board.boot() == B.address
    before = board.content()
    assert board.confirm()
    for power in range(board.used()):
        board.restore(before)
        assert board.boot() == B.address
        assert not board.confirm(power)
        # The Appli was confirmed or not; either way it is started, and may confirm itself.
        assert (board.boot(), board.confirm(), board.boot(POWERED)) == (B.address, True, B.address)


FORMAT_IN_C = Format(
    "n6_journal.h",
    (),
    constants=(
        Constant("N6_JOURNAL_MAGIC", MAGIC),
        Constant("N6_JOURNAL_ENTRIES", ENTRIES),
        Constant("N6_JOURNAL_COPIES", COPIES),
    ),
    enumerations=(Enumeration("n6_image_state_t", "N6_IMAGE_", State),),
    structs=(ENTRY, RECORD),
)


def test_c_and_python_say_the_same_of_the_journal(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(assertions(FORMAT_IN_C))
    command = ["cc", "-std=c11", f"-I{FIRMWARE / 'trial'}", "-fsyntax-only", "a.c"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


CONTENTS = st.sampled_from(("nothing", "damaged", "bare", "whole"))
STATES = st.sampled_from(State)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.tuples(CONTENTS, CONTENTS), st.tuples(STATES, STATES), st.tuples(st.integers(0, 3), st.integers(0, 3)))
def test_an_update_leaves_what_the_board_goes_back_to(
    host: HostBoard, contents: tuple[str, str], states: tuple[State, State], revisions: tuple[int, int]
) -> None:
    """The confirmed Appli that the board falls back to survives an update that fails.

    This holds for every content of the two slots.
    """
    host.erase_all()
    entries = b""
    for number, slot in enumerate((A, B)):
        bare = appli(number)
        image = stored_appli(bare, revisions[number])
        written = {"nothing": b"", "damaged": image[:3000] + b"\x01" + image[3001:], "bare": bare, "whole": image}
        host.write(slot.address, written[contents[number]])
        identity = (
            zlib.crc32(bare[:HEADER_BYTES]) if contents[number] == "bare" else int.from_bytes(image[-4:], "little")
        )
        entries += ENTRY.pack(subject=APPLI, image=identity, state=states[number], starts=0)
    host.write(JOURNAL.address, record_of(7, entries))
    before = host.content()
    ends = host.ends_with()
    is_last_resort = "last-resort" in host.said()
    host.restore(before)
    update = host.plan(NEW)
    assert update.is_new
    if ends == NONE:
        return
    host.write(update.address, bytes(A.size))
    assert host.boot() not in {NONE, update.address}
    host.restore(before)
    host.program(update)
    assert host.boot() == update.address
    # No Appli has confirmed itself: the newest one is the last resort.
    assert host.ends_with() == (update.address if is_last_resort else ends)
