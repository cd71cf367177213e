"""Cuts of an update of the Appli, of its trial and of the journal.

Damages come afterwards. The board is the FSBL's own C on this host. After each cut it starts until its choice is settled.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from n6build.board.flash.trial_journal import COPIES, MAGIC, RECORD
from n6build.describe.formats.boot_header import BASE, HEADER_BYTES

from firmware.host_fsbl import JOURNAL, NONE, OFF, SECTOR, STARTS, A, B, HostBoard, appli

OLDER, OLD, NEW = appli(1), appli(2), appli(3, 5200)
# Starts after which a board without a confirmation has settled.
_SETTLED = STARTS + 2
_ERASED = 0xFF


@dataclass
class Tally:
    """Ends of one kind of cut.

    Attributes:
        cuts: Cuts or damages that were tried.
        boots: Starts after them.
        new: Boards that end with the new Appli.
        old: Boards that end with an older Appli.
        stopped: Boards that once started nothing, or something that is damaged.
    """

    cuts: int = 0
    boots: int = 0
    new: int = 0
    old: int = 0
    stopped: int = 0


def _is_whole(board: HostBoard, slot: int) -> bool:
    """Return True if a slot has one of the Applis of these cuts, unchanged."""
    size = BASE.unpack(board.read(slot, HEADER_BYTES))["image_bytes"]
    content = board.read(slot + HEADER_BYTES, min(size, A.size))
    return content in (OLDER[HEADER_BYTES:], OLD[HEADER_BYTES:], NEW[HEADER_BYTES:])


def _settle(board: HostBoard, tally: Tally, starts: int = _SETTLED) -> None:
    """Start the board after a cut, and count its end."""
    tally.cuts += 1
    tally.boots += starts
    started = NONE
    for _ in range(starts):
        started = board.boot()
        if started == NONE or not _is_whole(board, started):
            tally.stopped += 1
            return
    is_new = board.read(started + HEADER_BYTES, len(NEW) - HEADER_BYTES) == NEW[HEADER_BYTES:]
    tally.new, tally.old = tally.new + is_new, tally.old + (not is_new)


def _prepare(board: HostBoard) -> None:
    """Give a board two Applis that have been confirmed, the older one in slot A."""
    board.erase_all()
    for image in (OLDER, OLD):
        board.program(board.plan(image))
        board.boot()
        assert board.confirm()


def fill_journal(board: HostBoard) -> None:
    """Fill the journal's first copy with its newest record.

    The next record then erases the second copy.
    """
    written = [board.read(JOURNAL.address + start, RECORD.size) for start in range(0, SECTOR, RECORD.size)]
    newest = [each for each in written if each[:4] == MAGIC.to_bytes(4, "little")]
    for number in range(len(newest), len(written)):
        head = newest[-1][:4] + number.to_bytes(4, "little") + newest[-1][8:-4]
        board.write(JOURNAL.address + number * RECORD.size, head + zlib.crc32(head).to_bytes(4, "little"))


def writes_of_the_journal(board: HostBoard, stride: int) -> Tally:
    """Cut the power at each byte that a trial and its confirmation write."""
    tally = Tally()
    for is_full in (False, True):
        _prepare(board)
        if is_full:
            fill_journal(board)
        board.program(board.plan(NEW))
        for _ in range(STARTS + 1):
            before = board.content()
            board.boot()
            confirmed = board.content(), board.confirm(), board.used()
            for power in range(0, confirmed[2] if confirmed[1] else 0, stride):
                board.restore(confirmed[0])
                board.confirm(power)
                _settle(board, tally)
            board.restore(before)
            board.boot()
            for power in range(0, board.used(), stride):
                board.restore(before)
                assert board.boot(power) == OFF
                _settle(board, tally)
            board.restore(before)
            board.boot()
    return tally


def writes_of_an_update(board: HostBoard, stride: int) -> Tally:
    """Cut the erase and the programming of each sector of an update, at each byte."""
    return _states_of_an_update(
        board,
        lambda before, after: [
            *(bytes([_ERASED]) * at + before[at:] for at in range(0, SECTOR, stride)),
            *(before[:at] + bytes([_ERASED]) * (SECTOR - at) for at in range(0, SECTOR, stride)),
            *(
                after[:at] + bytes([after[at] | 0xF0]) + bytes([_ERASED]) * (SECTOR - at - 1)
                for at in range(0, SECTOR, stride)
            ),
        ],
    )


def torn_sectors(board: HostBoard, stride: int) -> Tally:
    """Tear the erase and the programming of each sector: every bit is done or not."""
    source = random.Random(39)

    def torn(before: bytes, after: bytes) -> list[bytes]:
        made = []
        for sector in (before, after):
            for _ in range(0, SECTOR // 4, stride):
                done = source.choice((0, 1, 5, 50, 95, 99, 100)) / 100
                mask = bytes(_ERASED if source.random() < done else source.randrange(256) for _ in sector)
                made.append(bytes(one | other for one, other in zip(sector, mask, strict=True)))
        return made

    return _states_of_an_update(board, torn)


def _states_of_an_update(board: HostBoard, states: Callable[[bytes, bytes], list[bytes]]) -> Tally:
    tally = Tally()
    for backwards in (False, True):
        _prepare(board)
        update, before = board.plan(NEW), board.content()
        sectors = board.sectors(update)
        done: list[tuple[int, bytes]] = []
        for address, data in reversed(sectors) if backwards else sectors:
            for state in states(board.read(address, SECTOR), data):
                board.restore(before)
                for place, written in (*done, (address, state)):
                    board.write(place, written)
                _settle(board, tally)
            board.restore(before)
            done.append((address, data))
    return tally


def flipped_bits(board: HostBoard, stride: int) -> Tally:
    """Flip one bit of both slots or of the journal, after a confirmed update."""
    tally = Tally()
    _prepare(board)
    board.program(board.plan(NEW))
    board.boot()
    assert board.confirm()
    before = board.content()
    for slot in (A, B, JOURNAL):
        for bit in range(0, slot.size * 8, stride):
            board.restore(before)
            address = slot.address + bit // 8
            board.write(address, bytes([board.read(address, 1)[0] ^ 1 << bit % 8]))
            _settle(board, tally, starts=1)
    return tally


def worn_sectors(board: HostBoard, stride: int) -> Tally:
    """Make one sector refuse every erase, and update the board again and again."""
    tally = Tally()
    places = [slot.address + at for slot in (A, B) for at in range(0, slot.size, SECTOR)]
    for worn in (*places, *(JOURNAL.address + copy * JOURNAL.size // COPIES for copy in range(COPIES))):
        _prepare(board)
        board.wear(worn)
        for number in range(0, 48, stride):
            image = (OLDER, OLD, NEW)[number % 3]
            for address, data in board.sectors(board.plan(image)):
                held = board.read(address, SECTOR)
                stays = bytes(one & other for one, other in zip(held, data, strict=True))
                board.write(address, stays if address == worn else data)
            _settle(board, tally, starts=1)
            board.confirm()
        board.wear(0)
    return tally


CUTS = {
    "each byte that the journal writes or erases": writes_of_the_journal,
    "each byte of each sector of an update, erased or programmed": writes_of_an_update,
    "sectors of an update torn at random bits": torn_sectors,
    "one bit of both slots or the journal flips afterwards": flipped_bits,
    "one sector that never erases, 48 updates each": worn_sectors,
}
