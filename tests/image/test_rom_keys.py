"""An FSBL that is signed for the boot ROM, byte by byte.

The expected bytes are those of tables 32, 34 and 36 of ST's UM3234.
"""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.describe.choices import Choices
from n6build.describe.formats.boot_header import BinaryType
from n6build.place.image.boot_header import with_boot_header
from n6build.place.image.rom_keys import FsblSignature, read_rom_keys, rom_key_digest, signature_of
from n6build.place.memory_plan.whole_image import check_program
from n6build.steps.signing_settings import rom_signing_of
from trust.rom_signer import private_key, rom_keys, signed

PAYLOAD = struct.pack("<II", 0x3420_0000, 0x3418_0501) + bytes(range(256)) * 3
IMAGE = with_boot_header(PAYLOAD, 0x3418_0400, BinaryType.FSBL, 0x400)
KEYS = 8 * 32


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return rom_keys(tmp_path_factory.mktemp("rom") / "keys")


def test_the_fields_are_those_of_the_manual(folder: Path) -> None:
    image, points = signed(IMAGE, folder, number=3, version=7), read_rom_keys(folder)
    table = image[0xA0 + 116 : 0xA0 + 116 + KEYS]
    fields = {
        0x080: struct.pack("<I", 7),
        0x084: struct.pack("<I", 0x8000_0001),
        0x088: struct.pack("<I", 0x1A0),
        0x0A0: b"ST\x00\x02",
        0x0A4: struct.pack("<IIII", 116 + KEYS, 3, 8, 1),
        0x0B4: points[3][1:] + bytes(32),
        0x0A0 + 116 + KEYS: b"ST\xff\xff" + struct.pack("<I", 0x1A0 - 116 - KEYS),
        0x06C: struct.pack("<I", 0x1C0 + 800),
        # The end is a multiple of 32, and the sum the same.
        0x240: IMAGE[0x240:] + bytes(24),
    }
    assert {offset: image[offset : offset + len(value)] for offset, value in fields.items()} == fields
    assert hashlib.sha256(table).digest() == rom_key_digest(points)
    assert len(image) == 0x240 + 0x1C0 + 800
    check_program(image, BinaryType.FSBL, 0x400, "fsbl_image.bin")


def test_the_signature_covers_what_the_manual_says(folder: Path) -> None:
    image = signed(IMAGE, folder, number=3)
    key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), read_rom_keys(folder)[3])
    r, s = (int.from_bytes(image[at : at + 32], "big") for at in (0x04, 0x24))
    der = encode_dss_signature(r, s)
    # From the version to the padding, then the extensions and the program.
    key.verify(der, image[0x68:0x98] + image[0xA0:], ec.ECDSA(SHA256()))
    with pytest.raises(InvalidSignature):
        key.verify(der, image[0x68:], ec.ECDSA(SHA256()))
    assert image[0x44:0x64] == bytes(32)


def test_equal_input_gives_equal_bytes(folder: Path) -> None:
    assert signed(IMAGE, folder) == signed(IMAGE, folder)


def test_a_signature_is_read_back(folder: Path) -> None:
    found = signature_of(signed(IMAGE, folder, number=3))
    assert found == FsblSignature(3, 8, rom_key_digest(read_rom_keys(folder)), "")
    assert signature_of(IMAGE) is None
    # Flash padding follows an image that was read from a board.
    assert signature_of(signed(IMAGE, folder, number=3) + b"\xff" * 64) == found


@pytest.mark.parametrize(
    ("offset", "fault"),
    [
        (0x004, "its signature is wrong"),
        (0x080, "its signature is wrong"),
        (0x0A0, "its authentication extension is damaged"),
        (0x0A8, "its key is not number 2 of its table"),
        (0x0AC, "its authentication extension is damaged"),
        (0x0B0, "n6build verifies neither encrypted FSBLs nor other curves than P-256"),
        (0x0B4, "its key is not number 3 of its table"),
        (0x23F, "its signature is wrong"),
        (0x400, "its signature is wrong"),
    ],
)
def test_a_bit_that_is_flipped_is_found(folder: Path, offset: int, fault: str) -> None:
    image = bytearray(signed(IMAGE, folder, number=3))
    image[offset] ^= 1
    found = signature_of(bytes(image))
    assert found is not None
    assert found.fault == fault


@given(st.binary(max_size=0x1A0), st.integers(0, 0xFFFF_FFFF))
def test_any_extension_is_read_without_a_crash(extension: bytes, length: int) -> None:
    image = bytearray(IMAGE)
    image[0x084] |= 1
    image[0x06C:0x070] = length.to_bytes(4, "little")
    image[0x0A0 : 0x0A0 + len(extension)] = extension
    found = signature_of(bytes(image))
    assert found is not None
    assert found.fault


def signing(folder: Path, fsbl: str = "") -> Choices:
    return Choices(board="nucleo-n657", sign=f"n6build:{folder}", launched=str(folder.parent), fsbl=fsbl)


def test_the_private_key_decides_which_of_the_keys_signs(tmp_path: Path) -> None:
    keys = rom_keys(tmp_path / "keys")
    private_key(keys, 6)
    found = rom_signing_of(signing(keys))
    assert found is not None
    assert found.number == 6
    assert rom_signing_of(Choices(board="nucleo-n657", sign="tool")) is None


def test_keys_that_do_not_sign_are_named(tmp_path: Path) -> None:
    keys = rom_keys(tmp_path / "keys")
    with pytest.raises(N6Error, match="N6-SIGN-003: has 8 public and 0 private keys"):
        rom_signing_of(signing(keys))
    private_key(keys, 9)
    with pytest.raises(N6Error, match="N6-SIGN-006: is the private half of no public key"):
        rom_signing_of(signing(keys))
    with pytest.raises(N6Error, match="N6-SIGN-005"):
        rom_signing_of(signing(keys, fsbl="theirs.elf"))
    with pytest.raises(N6Error, match="N6-SIGN-005: 'fsbl_version' has no effect"):
        rom_signing_of(Choices(board="nucleo-n657", fsbl_version=2))
    with pytest.raises(N6Error, match="N6-FUSE-003"):
        rom_signing_of(signing(rom_keys(tmp_path / "seven", 7)))
