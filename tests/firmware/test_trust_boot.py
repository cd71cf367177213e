"""A verifying FSBL starts signed Applis, and stops with an id at any other."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trust_build
from firmware_build import BOARD, image_of
from n6build.base.paths import FIRMWARE
from n6build.board.run.console_log import ends_run, read_console
from n6build.board.virtual_board.run import Limits
from n6build.describe.formats.boot_header import BASE, HEADER_BYTES, BinaryType
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.fuse import Fuse
from n6build.place.trust.keys import public_point
from trust.host_verifier import key_file
from trust_build import LOAD, SLEEP_FOR_EVER, STARTED, build_verifying, decides
from virtual_board.small_programs import boot_both

FLOOR_WORD = BOARD.soc.security_counter
# Secrets of the keys of the board.
KEYS = (18, 21)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("trust")


@pytest.fixture(scope="module")
def verifying_fsbl(folder: Path) -> bytes:
    sources = sorted((FIRMWARE / "fsbl").glob("*.c"))
    points = [public_point(key_file(folder, secret)) for secret in KEYS]
    return image_of(build_verifying(folder / "fsbl", "fsbl", sources, *points), BinaryType.FSBL)


def signed(folder: Path, **options: Any) -> bytearray:
    """Return a signed program that only sleeps, followed by a kilobyte of data."""
    return bytearray(trust_build.signed(folder, SLEEP_FOR_EVER + bytes(range(256)) * 4, **options))


def says(folder: Path, fsbl: bytes, appli: bytes | bytearray, board: Board = BOARD) -> list[str]:
    result = boot_both(folder, fsbl, bytes(appli), board=board, stop=decides)
    assert result.ended == "stopped"
    return list(result.lines)


def error_of(lines: list[str]) -> str:
    error = read_console(lines).error
    return error[0] if error else ""


def counted_to(number: int) -> Board:
    return replace(BOARD, fuses=(*BOARD.fuses, Fuse(FLOOR_WORD, (1 << number) - 1)))


def summed(image: bytearray) -> bytearray:
    """Give the image a valid checksum, as an attacker would."""
    struct.pack_into("<I", image, BASE.offset_of("checksum"), sum(image[HEADER_BYTES:]) % 2**32)
    return image


def test_a_signed_appli_starts(folder: Path, verifying_fsbl: bytes) -> None:
    assert says(folder, verifying_fsbl, signed(folder))[-1].startswith(STARTED)
    # The board's counter may equal the image's.
    assert says(folder, verifying_fsbl, signed(folder, counter=3), counted_to(3))[-1].startswith(STARTED)


def flipped(image: bytearray, offset: int) -> bytearray:
    image[offset] ^= 0x10
    return summed(image)


def shortened(image: bytearray) -> bytearray:
    """Remove the image's end and adapt its header."""
    struct.pack_into("<I", image, BASE.offset_of("image_bytes"), len(image) - 256 - HEADER_BYTES)
    return summed(image[:-256])


def test_what_was_not_signed_so_does_not_start(folder: Path, verifying_fsbl: bytes) -> None:
    at = BASE.offset_of
    unsigned = signed(folder)
    unsigned[at("signature") : at("checksum")] = bytes(at("checksum") - at("signature"))
    refused = {
        "a bit of the payload": (flipped(signed(folder), LOAD.payload_offset + 9), "N6-FW-091"),
        "the last bit": (flipped(signed(folder), len(signed(folder)) - 1), "N6-FW-091"),
        "a bit of the header": (flipped(signed(folder), at("load_address")), "N6-FW-091"),
        "its counter": (flipped(signed(folder), at("image_version")), "N6-FW-091"),
        "a bit of an extension": (flipped(signed(folder), BASE.size + 40), "N6-FW-091"),
        "a bit that the digest leaves out": (flipped(signed(folder), BASE.size - 1), "N6-FW-091"),
        "a bit of r": (flipped(signed(folder), at("signature")), "N6-FW-091"),
        "a bit of s": (flipped(signed(folder), at("signature") + 63), "N6-FW-091"),
        "a bit behind the signature": (flipped(signed(folder), at("signature") + 64), "N6-FW-091"),
        "shorter": (shortened(signed(folder)), "N6-FW-091"),
        "cut off": (signed(folder)[:-256], "N6-FW-013"),
        "without a signature": (unsigned, "N6-FW-090"),
        "signed with another key": (signed(folder, secret=19), "N6-FW-091"),
        "signed with the board's other key": (signed(folder, secret=21), "N6-FW-091"),
        "signed with a key that the board lacks": (signed(folder, number=2), "N6-FW-091"),
        "signed for another board": (signed(folder, board="stm32n6570-dk"), "N6-FW-092"),
    }
    found = {name: error_of(says(folder, verifying_fsbl, image)) for name, (image, _) in refused.items()}
    assert found == {name: id for name, (_, id) in refused.items()}
    assert error_of(says(folder, verifying_fsbl, signed(folder, counter=2), counted_to(3))) == "N6-FW-093"


def test_a_board_changes_its_key_and_refuses_the_revoked_one(folder: Path, verifying_fsbl: bytes) -> None:
    old, new = signed(folder), signed(folder, secret=21, number=1)
    assert [says(folder, verifying_fsbl, each)[-1].startswith(STARTED) for each in (old, new)] == [True, True]
    revoked = replace(BOARD, fuses=(*BOARD.fuses, Fuse(BOARD.soc.revoked_keys, 0b1)))
    assert error_of(says(folder, verifying_fsbl, old, revoked)) == "N6-FW-096"
    assert says(folder, verifying_fsbl, new, revoked)[-1].startswith(STARTED)


COUNTED = "n6 fsbl counter"


@pytest.fixture(scope="module")
def advancing_fsbl(folder: Path) -> bytes:
    """Return an FSBL with trust_advance=blow."""
    sources = sorted((FIRMWARE / "fsbl").glob("*.c"))
    more = ["-DN6_TRUST_ADVANCE=1"]
    elf = build_verifying(folder / "advancing", "fsbl", sources, public_point(key_file(folder)), more=more)
    return image_of(elf, BinaryType.FSBL)


def counting(folder: Path, fsbl: bytes, appli: bytearray, fuses: Path | None, board: Board = BOARD) -> list[str]:
    """Return what a board says about its counter, or its error."""
    # The line of the counter is the last one, and comes soon after the verification.
    result = boot_both(
        folder,
        fsbl,
        bytes(appli),
        board=board,
        fuses=fuses,
        stop=lambda line: ends_run(line) or line.startswith(COUNTED),
        limits=Limits(silence=150_000_000),
    )
    return [line for line in result.lines if line.startswith((COUNTED, "n6 fsbl error"))]


def test_a_release_that_runs_retires_older_ones(folder: Path, advancing_fsbl: bytes) -> None:
    fuses = folder / "advancing.fuses"
    assert counting(folder, advancing_fsbl, signed(folder, counter=3), fuses) == [f"{COUNTED} 0 -> 3"]
    assert fuses.read_bytes()[4 * FLOOR_WORD :][:4] == bytes([0b111, 0, 0, 0])
    assert counting(folder, advancing_fsbl, signed(folder, counter=3), fuses) == []
    assert counting(folder, advancing_fsbl, signed(folder, counter=5), fuses) == [f"{COUNTED} 3 -> 5"]
    (refused,) = counting(folder, advancing_fsbl, signed(folder, counter=4), fuses)
    assert "N6-FW-093" in refused
    # An Appli that is not signed moves nothing.
    assert "N6-FW-091" in counting(folder, advancing_fsbl, flipped(signed(folder, counter=9), 0x500), fuses)[0]
    assert fuses.read_bytes()[4 * FLOOR_WORD] == 0b11111


def test_a_chip_that_programs_no_fuse_runs_the_release_all_the_same(folder: Path, advancing_fsbl: bytes) -> None:
    kept = f"{COUNTED} kept N6-FW-099 the fuses of the security counter cannot be programmed"
    assert counting(folder, advancing_fsbl, signed(folder, counter=3), None) == [kept]
