"""Images for MCUboot, as its own tool imgtool reads and makes them."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.describe.formats.boot_header import BASE
from n6build.describe.hardware.boards import load_board
from n6build.place.image.foreign import flash_pieces
from n6build.place.image.mcuboot import MAGIC, SigningKey, mcuboot_image, read_mcuboot_image, version_numbers
from n6build.place.image.program_board import program_board
from n6build.place.trust.keys import der_signature, key_info, public_point, signature
from n6build.tell.image_facts import explain_image
from trust.host_verifier import key_file

BOARD = program_board(load_board("nucleo-n657"))
HEADER_BYTES = 0x400
ADDRESS = 0x34000400
PROGRAM = struct.pack("<II", 0x34100000, ADDRESS | 9) + bytes(range(256)) * 5


def imgtool(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("imgtool")), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def key_of(file: Path) -> SigningKey:
    point = public_point(file)
    return SigningKey(key_info(point), lambda data: der_signature(signature(file, point, data)))


def test_imgtool_verifies_an_image_of_ours(tmp_path: Path) -> None:
    key, other = key_file(tmp_path), key_file(tmp_path, 19)
    made = mcuboot_image(PROGRAM, ADDRESS, HEADER_BYTES, "1.2.3+4", 7, key_of(key))
    (tmp_path / "a.bin").write_bytes(made)
    verified = imgtool("verify", "--key", key, tmp_path / "a.bin")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert "Image version: 1.2.3+4" in verified.stdout
    assert imgtool("verify", "--key", other, tmp_path / "a.bin").returncode != 0
    dumped = imgtool("dumpinfo", tmp_path / "a.bin").stdout
    assert "load_addr:          0x34000000" in dumped
    assert "RAM_LOAD (0x20)" in dumped
    for name in ("SEC_CNT", "SHA256", "KEYHASH", "ECDSASIG"):
        assert name in dumped
    (tmp_path / "a.bin").write_bytes(made[:-300] + b"\0" + made[-299:])
    assert imgtool("verify", "--key", key, tmp_path / "a.bin").returncode != 0


def test_it_is_the_image_that_imgtool_makes(tmp_path: Path) -> None:
    """Signatures of imgtool are random; everything in front of them is equal."""
    key = key_file(tmp_path)
    ours = mcuboot_image(PROGRAM, ADDRESS, HEADER_BYTES, "1.2.3+4", 7, key_of(key))
    (tmp_path / "program.bin").write_bytes(PROGRAM)
    arguments: tuple[str, ...] = (
        "--version",
        "1.2.3+4",
        "--header-size",
        "0x400",
        "--pad-header",
        "--security-counter",
        "7",
    )
    arguments += ("--load-addr", "0x34000000", "--slot-size", "0x100000", "--key", str(key))
    done = imgtool("sign", *arguments, tmp_path / "program.bin", tmp_path / "theirs.bin")
    assert done.returncode == 0, done.stderr
    theirs = (tmp_path / "theirs.bin").read_bytes()
    at = theirs.index(struct.pack("<H", 0x22), HEADER_BYTES + len(PROGRAM))
    records = HEADER_BYTES + len(PROGRAM) + 12
    assert ours[:records] == theirs[:records]
    assert ours[records + 4 : at] == theirs[records + 4 : at]
    assert read_mcuboot_image(theirs, "theirs.bin") == read_mcuboot_image(ours, "ours.bin")


@pytest.mark.parametrize("with_key", [False, True])
def test_an_image_is_read_as_it_was_made(with_key: bool, tmp_path: Path) -> None:
    key = key_of(key_file(tmp_path)) if with_key else None
    image = read_mcuboot_image(mcuboot_image(PROGRAM, ADDRESS, HEADER_BYTES, "255.0.65535", 0, key), "a.bin")
    assert (image.address, image.program, image.version) == (ADDRESS, PROGRAM, "255.0.65535+0")
    assert (image.is_signed, image.counter) == (with_key, None)


@pytest.mark.parametrize(
    "version", ["", "1", "1.2", "1.2.3.4", "256.0.0", "1.2.65536", "1.2.3+4294967296", "v1.2.3", "1.2.3\n"]
)
def test_a_version_that_mcuboot_does_not_have(version: str) -> None:
    with pytest.raises(N6Error, match="N6-MCUBOOT-001: '(?s:.*)' is not a version such as 1.2.3"):
        version_numbers(version)


def made_by_imgtool(folder: Path, *arguments: str) -> bytes:
    (folder / "program.bin").write_bytes(PROGRAM)
    always = ("--version", "1.0.0", "--header-size", "0x400", "--pad-header", "--slot-size", "0x100000", "--align", "4")
    done = imgtool("sign", *always, *arguments, folder / "program.bin", folder / "made.bin")
    assert done.returncode == 0, done.stdout + done.stderr
    return (folder / "made.bin").read_bytes()


REFUSED = {
    "encrypted": ("--encrypt", "N6-MCUBOOT-003: is encrypted"),
    "not bootable": ("--non-bootable", "N6-MCUBOOT-003: is not bootable"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_only_mcuboot_can_start_is_refused_by_name(name: str, tmp_path: Path) -> None:
    option, said = REFUSED[name]
    more = [option]
    if option == "--encrypt":
        public = tmp_path / "encrypt.pem"
        private = load_pem_private_key(key_file(tmp_path).read_bytes(), None)
        public.write_bytes(private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
        more.append(str(public))
    with pytest.raises(N6Error, match=said):
        read_mcuboot_image(made_by_imgtool(tmp_path, *more), "made.bin")


def test_an_appli_of_imgtool_goes_to_flash_with_a_header_of_ours(tmp_path: Path) -> None:
    """Its load address, or its reset vector, says where it runs."""
    for name, more in (("loaded", ("--load-addr", "0x34000000")), ("bare", ())):
        path = tmp_path / f"{name}.bin"
        path.write_bytes(made_by_imgtool(tmp_path, *more))
        (piece,) = flash_pieces(path, "appli", BOARD, None, copied_by_ours=True)
        assert BASE.unpack(piece.data)["entry"] == ADDRESS | 9
        assert piece.data[HEADER_BYTES:][: len(PROGRAM)] == PROGRAM
    elsewhere = tmp_path / "elsewhere.bin"
    elsewhere.write_bytes(made_by_imgtool(tmp_path, "--load-addr", "0x20000000"))
    with pytest.raises(N6Error, match="N6-FOREIGN-004"):
        flash_pieces(elsewhere, "appli", BOARD, None, copied_by_ours=True)


def test_explain_tells_the_version_and_the_signature(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(made_by_imgtool(tmp_path, "--load-addr", "0x34000000", "--key", str(key_file(tmp_path))))
    (told,) = explain_image(path, load_board("nucleo-n657"))
    facts = dict(told.facts)
    assert told.title == "image of MCUboot, a program"
    assert facts["header"].startswith("of MCUboot, version 1.0.0+0, a signature, which n6build does not verify")
    assert facts["runs at"].startswith("0x34000400")
    path.write_bytes(path.read_bytes()[:-200])
    (told,) = explain_image(path, load_board("nucleo-n657"))
    assert told.doubts
    with pytest.raises(N6Error, match="N6-MCUBOOT-002: says that it has|N6-MCUBOOT-002: has no whole records"):
        flash_pieces(path, "appli", BOARD, None, copied_by_ours=True)


@given(st.data())
def test_a_damaged_image_is_refused(data: st.DataObject) -> None:
    image = bytearray(mcuboot_image(PROGRAM[:64], ADDRESS, 0x40, "1.2.3", 5, None))
    end = data.draw(st.integers(0, len(image)))
    damaged = bytes(image[:end])
    if end == len(image):
        at = data.draw(st.integers(0, len(image) - 1))
        image[at] ^= 1 << data.draw(st.integers(0, 7))
        damaged = bytes(image)
    with pytest.raises(N6Error, match="N6-MCUBOOT-00[23]"):
        read_mcuboot_image(damaged, "a.bin")


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        read_mcuboot_image(MAGIC + data, "a.bin")
    except N6Error as error:
        assert error.id.startswith("N6-MCUBOOT-")
