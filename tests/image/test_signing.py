"""A fake of ST's signing tool with the behaviour of two of its releases."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest
from n6build.base.errors import N6Error
from n6build.describe.formats.boot_header import BinaryType
from n6build.place.image.boot_header import with_boot_header
from n6build.place.image.signing import check_signed, find_keys, find_signing_tool, signed_image, tool_version
from signing_stand_in import stand_in

ADDRESS = 0x3400_0400
OFFSET = 0x400
PAYLOAD = struct.pack("<2I", 0x3410_0000, ADDRESS + 9) + bytes(range(200))


@pytest.mark.parametrize("version", ["2.19.0", "2.20.0", "2.21.0", "2.22.1"])
@pytest.mark.parametrize("kind", list(BinaryType))
def test_every_release_gives_an_image_that_starts(version: str, kind: BinaryType, tmp_path: Path) -> None:
    tool = stand_in(tmp_path, version)
    assert signed_image(PAYLOAD, kind, tool, None, 0x34180000, OFFSET) == with_boot_header(
        PAYLOAD, ADDRESS, kind, OFFSET
    )
    called = (tmp_path / "log").read_text().split()
    assert "-nk" in called
    assert "-s" in called
    assert ("-align" in called) == (version >= "2.21")
    assert not {"-la", "-ep"} & set(called), "both break the boot of unsigned images"


def test_keys_are_given_with_a_load_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("publicKey00.pem", "publicKey01.pem", "privateKey00.pem"):
        (tmp_path / name).write_text("key")
    monkeypatch.setenv("N6BUILD_KEY_PASSWORD", "secret")
    tool = stand_in(tmp_path, "2.21.0")
    signed_image(PAYLOAD, BinaryType.FSBL, tool, find_keys(tmp_path), 0x34180000, OFFSET)
    called = (tmp_path / "log").read_text()
    assert f"-pubk {tmp_path}/publicKey00.pem {tmp_path}/publicKey01.pem -prvk {tmp_path}/privateKey00.pem" in called
    assert "-la 0x34180000 -pwd secret" in called
    assert "-nk" not in called


@pytest.mark.parametrize(("text", "status"), [("Error: Unable to read the key", 1), ("Error: bad option", 0), ("", 3)])
def test_a_tool_that_fails_is_not_believed(text: str, status: int, tmp_path: Path) -> None:
    tool = stand_in(tmp_path, "2.21.0", text or "nothing", status)
    with pytest.raises(N6Error, match="N6-SIGN-002: signing failed") as caught:
        signed_image(PAYLOAD, BinaryType.FSBL, tool, None, 0, OFFSET)
    assert text in str(caught.value)


def test_what_would_not_start_is_found_by_reading_it_back() -> None:
    good = with_boot_header(PAYLOAD, ADDRESS, BinaryType.FSBL, OFFSET)
    check_signed(good, PAYLOAD, OFFSET)
    wrong_entry = bytearray(good)
    struct.pack_into("<I", wrong_entry, 0x70, ADDRESS)
    for image in (b"", good[:0x300], good[:0x240] + PAYLOAD + bytes(0x1C0), bytes(wrong_entry)):
        with pytest.raises(N6Error, match="N6-SIGN-004"):
            check_signed(image, PAYLOAD, OFFSET)


def test_a_tool_that_puts_the_payload_elsewhere_than_the_chip_wants_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(N6Error, match="N6-SIGN-004: .* the payload is not at 0x800"):
        signed_image(PAYLOAD, BinaryType.FSBL, stand_in(tmp_path, "2.21.0"), None, 0, 0x800)


def test_what_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(N6Error, match="N6-SIGN-001"):
        find_signing_tool()
    with pytest.raises(N6Error, match="N6-SIGN-003: has 0 public and 0 private keys"):
        find_keys(tmp_path)
    monkeypatch.setenv("PATH", os.defpath)
    silent = stand_in(tmp_path, "")
    with pytest.raises(N6Error, match="N6-SIGN-002: does not report its version"):
        tool_version(silent)
