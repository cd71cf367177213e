"""The FSBL rejects an Appli whose header and vectors disagree, with a reason."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from firmware_build import BOARD
from n6build.board.run.console_log import read_console
from n6build.describe.formats.boot_header import BASE, HEADER_BYTES, BinaryType
from n6build.place.image.boot_header import with_boot_header
from trust_build import LOAD, ORIGIN, SLEEP_FOR_EVER, decides
from virtual_board.small_programs import boot_both

CHECKSUM, VERSION, LENGTH, ENTRY = map(BASE.offset_of, ("checksum", "version", "image_bytes", "entry"))
PAYLOAD_OFFSET = BOARD.soc.load_and_run.payload_offset
RESET_VECTOR = PAYLOAD_OFFSET + 4

FIRST = ORIGIN + 8
PAYLOAD_BYTES = 8 + len(SLEEP_FOR_EVER)


def image(changes: dict[int, int]) -> bytes:
    """Return an Appli that only sleeps, with changed words and a valid checksum."""
    payload = struct.pack("<II", ORIGIN + 0x1000, FIRST | 1) + SLEEP_FOR_EVER
    data = bytearray(with_boot_header(payload, ORIGIN, BinaryType.SSBL, PAYLOAD_OFFSET))
    for offset, word in changes.items():
        struct.pack_into("<I", data, offset, word)
    struct.pack_into("<I", data, CHECKSUM, sum(data[HEADER_BYTES:]) % 2**32)
    return bytes(data)


def says(tmp_path: Path, fsbl: bytes, appli: bytes) -> list[str]:
    result = boot_both(tmp_path, fsbl, appli, stop=decides)
    assert result.ended == "stopped"
    return list(result.lines)


def test_an_appli_that_fits_is_started(tmp_path: Path, fsbl: bytes) -> None:
    lines = says(tmp_path, fsbl, image({}))
    assert lines[-1] == f"n6 fsbl appli bytes={PAYLOAD_OFFSET + PAYLOAD_BYTES} entry=0x{FIRST | 1:08x}"


REFUSED = [
    ("another version of the header", {VERSION: 0x0002_0200}, "N6-FW-011"),
    ("a length of zero", {LENGTH: 0}, "N6-FW-015"),
    ("a length that ends before the vectors", {LENGTH: PAYLOAD_OFFSET - HEADER_BYTES + 7}, "N6-FW-015"),
    ("a length of all ones", {LENGTH: 0xFFFF_FFFF}, "N6-FW-012"),
    ("a length one byte above the RAM", {LENGTH: LOAD.max_bytes - HEADER_BYTES + 1}, "N6-FW-012"),
    ("an entry without the Thumb bit", {ENTRY: FIRST, RESET_VECTOR: FIRST}, "N6-FW-014"),
    ("an entry that is not the reset vector", {ENTRY: FIRST + 3}, "N6-FW-014"),
    ("an entry in front of the program", {ENTRY: ORIGIN - 1, RESET_VECTOR: ORIGIN - 1}, "N6-FW-014"),
    ("an entry behind the program", {ENTRY: ORIGIN + 0x1001, RESET_VECTOR: ORIGIN + 0x1001}, "N6-FW-014"),
]


@pytest.mark.parametrize(("changes", "id"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_is_refused(tmp_path: Path, fsbl: bytes, changes: dict[int, int], id: str) -> None:
    error = read_console(says(tmp_path, fsbl, image(changes))).error
    assert error is not None
    assert error[0] == id


def test_an_appli_whose_end_was_not_programmed_is_refused(tmp_path: Path, fsbl: bytes) -> None:
    error = read_console(says(tmp_path, fsbl, image({})[:-4])).error
    assert error is not None
    assert error[0] == "N6-FW-013"
