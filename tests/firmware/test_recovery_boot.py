"""A verifying FSBL waits for a release, and starts no other than a signed one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import trust_build
from firmware_build import BOARD, image_of, write_nor
from n6build.base.errors import N6Error
from n6build.base.paths import FIRMWARE
from n6build.board.flash.sectors import sectors_of
from n6build.board.run.link import Link, Stream
from n6build.board.run.linked_session import virtual_link
from n6build.board.run.recovery import Release, recover, start
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.run import NorBoot
from n6build.describe.formats.boot_header import BinaryType
from n6build.describe.formats.recovery import SECTOR_BYTES
from n6build.describe.hardware.board_header import recovery_defines
from n6build.place.trust.keys import public_point
from trust.host_verifier import key_file
from trust_build import SLEEP_FOR_EVER, STARTED, build_verifying, decides
from virtual_board.small_programs import boot_both

APPLI, MODEL = BOARD.slots.appli.address, BOARD.slots.weights.address


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recovery")


@pytest.fixture(scope="module")
def fsbl(folder: Path) -> bytes:
    """Return an FSBL with recovery=on and trust=full."""
    sources = [*sorted((FIRMWARE / "fsbl").glob("*.c")), FIRMWARE / "recovery" / "n6_recovery.c"]
    sources.append(FIRMWARE / "trial" / "n6_nor_write.c")
    more = [f"-D{each}" for each in recovery_defines(BOARD)]
    more += [f"-I{FIRMWARE / name}" for name in ("recovery", "trial")]
    point = public_point(key_file(folder))
    return image_of(build_verifying(folder / "fsbl", "fsbl", sources, point, more=more), BinaryType.FSBL)


def signed(folder: Path, secret: int = 18) -> bytes:
    """Return a signed program that only sleeps, followed by some data."""
    return trust_build.signed(folder, SLEEP_FOR_EVER + bytes(range(256)) * 18, secret=secret)


def release(appli: bytes) -> Release:
    """Return a release with small sectors, whose model fills a sector and a bit."""
    model = bytes(each * 5 % 256 for each in range(SECTOR_BYTES + 100))
    return Release(tuple(sectors_of([(APPLI, appli), (MODEL, model)], SECTOR_BYTES)), APPLI)


@dataclass
class Session:
    """A board that is on: the link, and the lines of its console."""

    link: Link
    lines: list[str] = field(default_factory=list)


@contextmanager
def switched_on(nor: Path, *, held: bool = False) -> Iterator[Session]:
    """Switch on a board that keeps its flash; it has no power behind the block."""
    boot = NorBoot(nor, BOARD, keeps_writes=True, held=held)
    lines: list[str] = []
    with virtual_link(find_emulator(BOARD.soc), boot, nor.with_suffix(".findings"), lines.append) as link:
        yield Session(link, lines)


def recovered(nor: Path, wanted: Release, *, held: bool = False) -> Sequence[str]:
    """Recover a board, let it start, and return the lines of its console."""
    with switched_on(nor, held=held) as board:
        recover(board.link, BOARD.name, wanted)
        start(board.link, board.lines)
    return board.lines


def board_with(folder: Path, fsbl: bytes, appli: bytes = b"") -> Path:
    """Return the flash of a board with these programs."""
    return write_nor(folder / "nor.bin", {BOARD.slots.fsbl.address: fsbl, **({APPLI: appli} if appli else {})})


def content(nor: Path, address: int, size: int) -> bytes:
    with nor.open("rb") as file:
        file.seek(address - BOARD.nor.base)
        return file.read(size)


def test_a_board_with_nothing_but_its_fsbl_gets_a_release(folder: Path, fsbl: bytes) -> None:
    """Garbage, a flood, and a release of another key, refused by name, come first."""
    nor, wrong = board_with(folder, fsbl), release(signed(folder, secret=19))
    with switched_on(nor) as board:
        for noise in (bytes(range(256)), b"\0\xff\x13", b"n6 fsbl appli" * 40, b"\xff" * 6000):
            board.link.stream.write(noise)
        recover(board.link, BOARD.name, wrong)
        assert "n6 fsbl error N6-FW-010 the Appli slot is erased" in board.lines
        assert "n6 fsbl recovery waits: no valid Appli" in board.lines
        with pytest.raises(
            N6Error, match="N6-RECOVER-005: .* N6-FW-091 altered, or signed with another key"
        ) as refused:
            start(board.link, board.lines)
        assert refused.value.hint == "recover the board with a release that its FSBL accepts"
        # It waits for the next one.
        recover(board.link, BOARD.name, release(signed(folder)))
        start(board.link, board.lines)
    assert [line for line in board.lines if line.startswith("n6 fsbl appli ")]
    assert content(nor, BOARD.slots.fsbl.address, len(fsbl)) == fsbl
    for sector in release(signed(folder)).sectors:
        assert content(nor, sector.address, sector.size) == sector.data


def test_a_damaged_signed_appli_is_replaced(folder: Path, fsbl: bytes) -> None:
    damaged = bytearray(signed(folder))
    damaged[-100] ^= 1
    lines = recovered(board_with(folder, fsbl, bytes(damaged)), release(signed(folder)))
    assert "n6 fsbl error N6-FW-013 the Appli is damaged: its checksum differs" in lines
    assert lines[-1].startswith(STARTED)


def test_a_pin_makes_a_board_wait_that_has_a_valid_appli(folder: Path, fsbl: bytes) -> None:
    result = boot_both(folder, fsbl, signed(folder), stop=decides)
    assert not any("recovery" in line for line in result.lines)
    lines = recovered(board_with(folder, fsbl, signed(folder)), release(signed(folder)), held=True)
    assert "n6 fsbl recovery waits: pin held" in lines
    # The pin is released at the reset.
    assert lines[-1].startswith(STARTED)


@dataclass
class Cable:
    """A line that is pulled out in the middle of a request, counted from 1."""

    stream: Stream
    last: int
    requests: int = 0

    @property
    def in_waiting(self) -> int:
        return self.stream.in_waiting

    def read(self, size: int = 1, /) -> bytes:
        return self.stream.read(size)

    def write(self, data: bytes, /) -> int | None:
        self.requests += 1
        if self.requests == self.last:
            self.stream.write(data[: len(data) // 2])
            raise ConnectionError("the cable is out")
        return self.stream.write(data)


@pytest.mark.parametrize("last", [9, 40, *(pytest.param(each, marks=pytest.mark.slow) for each in range(3, 72, 2))])
def test_the_cable_is_pulled_and_the_next_call_goes_on(last: int, folder: Path, fsbl: bytes) -> None:
    """The power goes with the cable. `test_recovery.py` cuts each write on the host."""
    nor, wanted = board_with(folder, fsbl, signed(folder)[:-20]), release(signed(folder))
    with pytest.raises(N6Error, match="N6-LINK-009"), switched_on(nor) as board:
        cable = Cable(board.link.stream, last)
        board.link.stream = cable
        recover(board.link, BOARD.name, wanted)
    assert not any(line.startswith("n6 fsbl appli ") for line in board.lines)
    assert recovered(nor, wanted)[-1].startswith(STARTED)
