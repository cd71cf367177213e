"""Recovery with any program at the other end of the line.

It ends in time, with an id or with a result.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field
from random import Random

import pytest
from cobs import cobs
from hypothesis import given, settings
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.board.flash.sectors import sectors_of
from n6build.board.run import recovery
from n6build.board.run.link import Link
from n6build.board.run.recovery import Release, recover, start
from n6build.describe.formats.recovery import ERASE_REQUEST, HELLO_ANSWER, SECTOR_BYTES, VERSION, WRITE_REQUEST, Type

from run.test_link_peers import Peer

BOARD = "nucleo-n657"
APPLI, MODEL, END = 0x70100000, 0x71000000, 0x74000000
RELEASE = Release(tuple(sectors_of([(APPLI, b"a" * 5000), (MODEL, b"m" * 300)], SECTOR_BYTES)), APPLI, (0x70800000,))
# Each of some 60 requests has four attempts of three seconds, in each of three attempts of the whole.
LONGEST_S = 3 * 60 * 4 * 3.5


@dataclass
class Waiting(Peer):
    """An FSBL that waits, and sometimes gives an odd answer.

    Attributes:
        flash: Contents by the address of their sector.
    """

    flash: dict[int, bytearray] = field(default_factory=dict)

    def write(self, data: bytes) -> int:
        message = cobs.decode(data.strip(b"\0"))
        kind, number, payload = message[0], message[1], message[2:-4]
        answer: bytes | None = self.sound(Type(kind), payload)
        status = 0
        if self.random.randrange(self.seldom) == 0:
            status = self.random.choice((0, 0, 1, 2, 3, 77))
            answer = self.random.choice(
                (None, b"", answer, bytes(40), self.random.randbytes(self.random.randrange(60)))
            )
        if answer is not None:
            reply = bytes([kind | 0x80, number, status]) + answer
            self.to_host += b"\0" + cobs.encode(reply + struct.pack("<I", zlib.crc32(reply))) + b"\0"
        return len(data)

    def sound(self, kind: Type, payload: bytes) -> bytes:
        if kind is Type.HELLO:
            return HELLO_ANSWER.pack(version=VERSION, is_held=0, first=0x70080000, end=END) + BOARD.encode()
        if kind is Type.CRC:
            address, size = struct.unpack("<II", payload)
            found = (self.sector(address + at) for at in range(0, size, SECTOR_BYTES))
            return struct.pack("<I", zlib.crc32(b"".join(found)))
        address = ERASE_REQUEST.unpack(payload)["address"] if payload else 0
        if kind is Type.ERASE:
            self.flash[address] = bytearray(b"\xff" * SECTOR_BYTES)
        if kind is Type.WRITE:
            at, block = address % SECTOR_BYTES, payload[WRITE_REQUEST.size :]
            self.sector(address - at)[at : at + len(block)] = block
        return b""

    def sector(self, address: int) -> bytearray:
        return self.flash.setdefault(address, bytearray(b"\xff" * SECTOR_BYTES))


def recovered(peer: Peer) -> recovery.Recovered:
    return recover(Link(peer, answer_s=0.5, window=1, now=lambda: peer.time_s), BOARD, RELEASE)


def test_a_sound_peer_is_recovered_once() -> None:
    peer = Waiting(Random(0), 1 << 40, talks=False)
    assert recovered(peer).sent == 3
    assert recovered(peer).sent == 0


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from([2, 5, 20, 200]), st.booleans())
def test_a_recovery_ends_in_time_with_an_id_or_with_the_release(random: Random, seldom: int, talks: bool) -> None:
    peer = Waiting(random, seldom, talks)
    try:
        recovered(peer)
    except N6Error as error:
        assert error.id
    else:
        # Odd answers are wrong, but no CRC of a whole sector is right by chance.
        assert all(bytes(peer.sector(each.address)) == each.data for each in RELEASE.sectors) or seldom < 200
    assert peer.time_s < LONGEST_S


def test_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery, "VERSION", VERSION + 1)
    with pytest.raises(N6Error, match="N6-RECOVER-002: the FSBL uses version 1 of recovery, but n6build uses 2"):
        recovered(Waiting(Random(0), 1 << 40, talks=False))


class Worn(Waiting):
    """An FSBL whose flash loses a bit behind its back."""

    def sector(self, address: int) -> bytearray:
        found = super().sector(address)
        found[7] &= 0xFE
        return found


def test_a_flash_that_holds_other_bytes_is_named() -> None:
    with pytest.raises(N6Error, match="0x.*N6-RECOVER-004: the flash holds other bytes than were written"):
        recovered(Worn(Random(0), 1 << 40, talks=False))


@dataclass
class Starting(Link):
    """A console whose board prints some lines after its start."""

    lines: tuple[str, ...] = ()
    heard: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.now = iter(range(100_000)).__next__

    def requests(self, *_: object) -> list[bytes]:
        self.heard += self.lines
        return [b""]


START = "n6 fsbl start board=nucleo-n657"
WAITS = "n6 fsbl recovery waits: no valid Appli"
ENDS = {
    "nothing": ((), "N6-LINK-001"),
    "the pin": ((START, "n6 fsbl recovery waits: pin held"), "N6-RECOVER-006: the pin is still held"),
    "a key": (
        (START, "n6 fsbl error N6-FW-091 altered, or signed with another key: the Appli", WAITS),
        "N6-RECOVER-005: .* N6-FW-091 altered, or signed with another key: the Appli",
    ),
    "of two slots, the reason of the one that was sent": (
        (
            "n6 fsbl appli slot=a refused N6-FW-093 older than this board accepts: the Appli",
            "n6 fsbl appli slot=b refused N6-FW-010 the Appli slot is erased",
            "n6 fsbl error N6-FW-085 no slot has a working Appli",
            WAITS,
        ),
        "N6-RECOVER-005: .* N6-FW-093 older than this board accepts",
    ),
}


@pytest.mark.parametrize("name", ENDS)
def test_a_board_that_does_not_start_the_release_says_why(name: str) -> None:
    lines, what = ENDS[name]
    link = Starting(Waiting(Random(0), 1, talks=False), lines=lines)
    with pytest.raises(N6Error, match=what):
        start(link, link.heard)


def test_a_board_that_starts_the_release_ends_the_recovery() -> None:
    link = Starting(Waiting(Random(0), 1, talks=False), lines=(START, "n6 fsbl appli bytes=26800 entry=0x3400574d"))
    start(link, link.heard)
