"""Recovery over the console never lets anything half-written start.

The board is the FSBL's own C on this host.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.board.run.recovery import recover, wait_for_fsbl
from n6build.describe.formats.recovery import CRC_REQUEST, ERASE_REQUEST, SECTOR_BYTES, WRITE_REQUEST, Type

from firmware.cut_recoveries import BOARD, CUTS, NEW, OLD, Tally, flashed, survives, worn_sectors, writes
from firmware.host_recovery import APPLI, BASE, MODEL, NOR_BYTES, OTHER, RecoveryBoard, recovery_board


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecoveryBoard]:
    with recovery_board(tmp_path_factory.mktemp("recovery")) as board:
        yield board


@pytest.fixture
def board(running: RecoveryBoard) -> RecoveryBoard:
    """Return the board with an erased flash, switched on."""
    running.put(b"\xff" * NOR_BYTES)
    running.spoil = lambda data: data
    running.hold(False)
    running.switch_on()
    return running


def test_an_empty_board_gets_the_release_and_keeps_its_fsbl(board: RecoveryBoard) -> None:
    board.put(b"fsbl" * 64)
    done = recover(board.link(), BOARD, NEW)
    assert board.holds(NEW)
    assert board.content().startswith(b"fsbl" * 64)
    assert (done.sent, done.erased) == (5, 0)


def test_only_what_a_board_lacks_is_sent(board: RecoveryBoard) -> None:
    recover(board.link(), BOARD, NEW)
    before = board.requests
    assert recover(board.link(), BOARD, NEW).sent == 0
    assert board.requests - before < 10
    damaged = bytearray(board.content())
    damaged[MODEL - BASE + 5000] ^= 1
    board.put(bytes(damaged))
    # The header of the Appli goes first, and comes last.
    assert recover(board.link(), BOARD, NEW).sent == 2
    assert board.holds(NEW)


@pytest.mark.parametrize("stride", [13, pytest.param(1, marks=pytest.mark.slow)])
def test_the_power_may_go_in_each_write(stride: int, board: RecoveryBoard) -> None:
    """Nothing can start then, unless it is whole, and the next recovery goes on."""
    before = flashed(board)
    count = writes(board, before)
    assert count > 80
    for cut in range(1, count + 1, stride):
        assert not survives(board, before, cut)
        assert not board.may_start(APPLI), cut
        # The older Appli in the other slot stays whole until the first one is erased.
        assert not board.may_start(OTHER) or cut == 1
        sent = board.requests
        board.switch_on()
        recover(board.link(), BOARD, NEW)
        assert board.holds(NEW)
        # What was written is not sent again.
        assert board.requests - sent < count - cut + 120


@pytest.mark.parametrize("cut", CUTS.values(), ids=lambda cut: cut.__name__)
def test_whatever_is_cut_or_damaged_starts_whole_or_waits(board: RecoveryBoard, cut: Callable[..., Tally]) -> None:
    """tools/bench.py cuts tries all of them."""
    tally = cut(board, 1 if cut is worn_sectors else 41)
    assert tally.cuts > 7
    assert tally.whole + tally.waiting == tally.cuts
    assert (tally.damaged, tally.lost) == (0, 0)


def test_a_slot_that_does_not_erase_is_reported(board: RecoveryBoard) -> None:
    """The older Appli in it could start."""
    board.put(flashed(board))
    board.wear(OTHER.address)
    board.switch_on()
    with pytest.raises(N6Error, match=f"0x{OTHER.address:08X}: error N6-RECOVER-004"):
        recover(board.link(), BOARD, NEW)
    board.wear(0)


def test_another_board_is_refused_by_its_name(board: RecoveryBoard) -> None:
    with pytest.raises(N6Error, match="N6-RECOVER-003: this is a board nucleo-n657, not stm32n6570-dk"):
        recover(board.link(), "stm32n6570-dk", NEW)
    assert board.content() == b"\xff" * NOR_BYTES


def test_a_board_without_power_does_not_wait(board: RecoveryBoard) -> None:
    board.switch_on(cut=1)
    with pytest.raises(N6Error, match="N6-LINK-001"):
        recover(board.link(), BOARD, NEW)
    with pytest.raises(N6Error, match="N6-RECOVER-001: no FSBL on this console waits"):
        recover(board.link(), BOARD, NEW)


OUTSIDE = {
    "the FSBL": (Type.ERASE, ERASE_REQUEST.pack(address=BASE)),
    "behind the NOR": (Type.ERASE, ERASE_REQUEST.pack(address=BASE + NOR_BYTES)),
    "in the middle of a sector": (Type.ERASE, ERASE_REQUEST.pack(address=MODEL + 16)),
    "RAM": (Type.WRITE, WRITE_REQUEST.pack(address=0x34000000) + b"ab"),
    "a sector that was not erased": (Type.WRITE, WRITE_REQUEST.pack(address=APPLI.address) + b"ab"),
    "beyond the sector": (Type.WRITE, WRITE_REQUEST.pack(address=MODEL + SECTOR_BYTES - 2) + b"abcd"),
    "an odd number": (Type.WRITE, WRITE_REQUEST.pack(address=MODEL) + b"abc"),
    "nothing": (Type.WRITE, WRITE_REQUEST.pack(address=MODEL)),
    "a CRC of a few bytes": (Type.CRC, CRC_REQUEST.pack(address=MODEL, bytes=4)),
    "a CRC of the FSBL": (Type.CRC, CRC_REQUEST.pack(address=BASE, bytes=SECTOR_BYTES)),
    "a CRC that wraps": (Type.CRC, CRC_REQUEST.pack(address=MODEL, bytes=0xFFFFF000)),
    "half a request": (Type.CRC, b"\0\0"),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_nothing_else_is_written_or_read(name: str, board: RecoveryBoard) -> None:
    recover(board.link(), BOARD, OLD)
    before = board.content()
    link = board.link()
    link.request(Type.ERASE, ERASE_REQUEST.pack(address=MODEL + 2 * SECTOR_BYTES))
    link.request(Type.ERASE, ERASE_REQUEST.pack(address=MODEL + 3 * SECTOR_BYTES))
    with pytest.raises(N6Error, match="N6-LINK-003"):
        link.request(*OUTSIDE[name])
    assert board.content() == before


@settings(deadline=None, max_examples=60)
@given(st.lists(st.binary(max_size=400), max_size=20), st.integers(0, 1 << 32))
def test_garbage_and_a_flood_change_nothing(running: RecoveryBoard, noise: list[bytes], seed: int) -> None:
    """The board skips them, and a recovery over a noisy line then succeeds."""
    running.put(b"\xff" * NOR_BYTES)
    running.spoil = lambda data: data
    running.switch_on()
    chance = random.Random(seed)
    for each in noise:
        running.write(each)
    running.write(chance.randbytes(40_000))
    running.write(b"x" * 60_000)
    assert running.content() == b"\xff" * NOR_BYTES
    running.to_host.clear()
    running.write(b"\0")

    def spoil(data: bytes) -> bytes:
        if chance.random() < 0.02 and data:
            return data[: chance.randrange(len(data))] + chance.randbytes(3)
        return data

    running.spoil = spoil
    recover(running.link(), BOARD, NEW)
    assert running.holds(NEW)


def test_a_pin_that_is_held_is_told_apart(board: RecoveryBoard) -> None:
    texts: list[str] = []
    for is_held, why in ((False, "no valid Appli"), (True, "pin held")):
        board.switch_on(cut=1)
        survives_nothing(board)
        board.hold(is_held)
        board.switch_on()
        link = board.link()
        link.on_text = texts.append
        wait_for_fsbl(link, BOARD)
        assert texts[-1] == f"n6 fsbl recovery waits: {why}"


def survives_nothing(board: RecoveryBoard) -> None:
    """Let the board lose its power."""
    with pytest.raises(N6Error, match="N6-LINK-001"):
        board.link().request(Type.ERASE, ERASE_REQUEST.pack(address=MODEL))
