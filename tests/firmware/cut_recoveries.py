"""Cuts of a recovery over the console, and damages of its release.

The board is the FSBL's own C on this host. After each cut something whole may start, or the board waits,
and the next recovery ends it.
"""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import dataclass

from n6build.base.errors import N6Error
from n6build.board.run.recovery import recover
from n6build.describe.formats.boot_header import BASE as HEADER
from n6build.describe.formats.boot_header import HEADER_BYTES

from firmware.host_recovery import APPLI, BASE, MODEL, NOR_BYTES, OTHER, SECTOR, RecoveryBoard, release

BOARD = "nucleo-n657"
OLD, NEW = release(1), release(2)
_TORN_AT_ONCE = 8
_STARTS = (APPLI, OTHER)


@dataclass
class Tally:
    """Ends of one kind of cut.

    Attributes:
        cuts: Cuts or damages that were tried.
        whole: Boards that may start a whole Appli afterwards, and nothing else.
        waiting: Boards that can start nothing, so that they wait for a release.
        damaged: Boards that may start something else.
        recoveries: Recoveries that followed.
        lost: Boards that do not hold the release after them.
    """

    cuts: int = 0
    whole: int = 0
    waiting: int = 0
    damaged: int = 0
    recoveries: int = 0
    lost: int = 0


def flashed(board: RecoveryBoard) -> bytes:
    """Give the board the old release in both slots, and return its flash."""
    board.put(b"\xff" * NOR_BYTES)
    board.switch_on()
    recover(board.link(), BOARD, OLD)
    content = bytearray(board.content())
    size = OLD.sectors[0].size
    at, of = OTHER.address - BASE, APPLI.address - BASE
    content[at : at + size] = content[of : of + size]
    board.put(bytes(content))
    return bytes(content)


def survives(board: RecoveryBoard, before: bytes, cut: int, seed: int = 0) -> bool:
    """Return True if a recovery of this flash ends before its write of this number."""
    board.put(before)
    board.switch_on(cut, seed)
    try:
        recover(board.link(), BOARD, NEW)
    except N6Error as error:
        assert error.id == "N6-LINK-001"
        return False
    return True


def writes(board: RecoveryBoard, before: bytes) -> int:
    """Return the number of writes of a recovery of this flash."""
    low, high = 1, 2
    while not survives(board, before, high):
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if survives(board, before, middle) else (middle + 1, high)
    return low - 1


def _settle(board: RecoveryBoard, tally: Tally, recovers: bool = True) -> None:
    """Count what may start now, then recover the board if that is wanted."""
    content = board.content()
    starting = [content[slot.address - BASE :] for slot in _STARTS if board.may_start(slot)]
    is_whole = all(_program(slot) in _PROGRAMS for slot in starting)
    tally.cuts += 1
    tally.whole += bool(starting) and is_whole
    tally.waiting += not starting
    tally.damaged += not is_whole
    if recovers:
        tally.recoveries += 1
        board.switch_on()
        recover(board.link(), BOARD, NEW)
        tally.lost += not board.holds(NEW)


def _program(slot: bytes) -> bytes:
    return slot[HEADER_BYTES:][: HEADER.unpack(slot)["image_bytes"]]


_PROGRAMS = [_program(each.sectors[0].data) for each in (OLD, NEW)]


def _flashes(board: RecoveryBoard) -> list[bytes]:
    """Return an old release in both slots, a damaged one, and an erased flash."""
    old = flashed(board)
    damaged = bytearray(old)
    for place in (APPLI.address, OTHER.address, MODEL):
        damaged[place - BASE + 3000] ^= 1
    return [old, bytes(damaged), b"\xff" * NOR_BYTES]


def writes_of_a_recovery(board: RecoveryBoard, stride: int) -> Tally:
    """Cut the power in the middle of each write."""
    tally = Tally()
    for before in _flashes(board):
        for cut in range(1, writes(board, before) + 1, stride):
            assert not survives(board, before, cut)
            _settle(board, tally)
    return tally


def torn_writes(board: RecoveryBoard, stride: int) -> Tally:
    """Tear each write: every bit is done or not."""
    tally = Tally()
    for before in _flashes(board):
        for cut in range(1, writes(board, before) + 1, stride):
            for seed in range(1, _TORN_AT_ONCE + 1):
                assert not survives(board, before, cut, 0x9E3779B9 * seed % 2**32)
                _settle(board, tally)
    return tally


def cuts_of_the_next_recovery(board: RecoveryBoard, stride: int) -> Tally:
    """Cut a recovery, and then the next seven at random writes; some of them are torn."""
    tally, source = Tally(), random.Random(39)
    for before in _flashes(board):
        for cut in range(1, writes(board, before) + 1, stride):
            assert not survives(board, before, cut)
            for _ in range(7):
                seed = source.choice((0, 1 + source.getrandbits(31)))
                survives(board, board.content(), source.randint(1, 12), seed)
            _settle(board, tally)
    return tally


def flipped_bits(board: RecoveryBoard, stride: int) -> Tally:
    """Flip one bit of the release after a recovery; each eighth board is recovered."""
    tally = Tally()
    board.put(b"\xff" * NOR_BYTES)
    board.switch_on()
    recover(board.link(), BOARD, NEW)
    whole = board.content()
    used = [each.address - BASE + at for each in NEW.sectors for at in range(len(each.data.rstrip(b"\xff")))]
    for bit in range(0, 8 * len(used), stride):
        damaged = bytearray(whole)
        damaged[used[bit // 8]] ^= 1 << bit % 8
        board.put(bytes(damaged))
        _settle(board, tally, recovers=bit // stride % 8 == 0)
    return tally


def worn_sectors(board: RecoveryBoard, stride: int) -> Tally:
    """Make one sector refuse every erase, and recover the board; nothing can end that."""
    tally = Tally()
    for before in _flashes(board)[:2]:
        for worn in range(APPLI.address, BASE + NOR_BYTES, SECTOR * stride):
            board.put(before)
            board.switch_on(cut=1)
            board.wear(worn)
            board.switch_on()
            with suppress(N6Error):
                recover(board.link(), BOARD, NEW)
            _settle(board, tally, recovers=False)
            board.wear(0)
    return tally


CUTS = {
    "each write of a recovery, in its middle": writes_of_a_recovery,
    "each write of a recovery torn at random bits, eight times": torn_writes,
    "each write of a recovery, then seven cuts of the next ones": cuts_of_the_next_recovery,
    "one bit of a recovered release flips afterwards": flipped_bits,
    "one sector that never erases": worn_sectors,
}
