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
from n6build.base.errors import N6Error
from n6build.describe.choices import Choices
from n6build.describe.formats.boot_header import BinaryType
from n6build.place.image.boot_header import with_boot_header
from n6build.place.image.rom_keys import read_rom_keys, rom_key_digest
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
        0x240: IMAGE[0x240:],
    }
    assert {offset: image[offset : offset + len(value)] for offset, value in fields.items()} == fields
    assert hashlib.sha256(table).digest() == rom_key_digest(points)
    assert len(image) == len(IMAGE)
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
    with pytest.raises(N6Error, match="N6-SIGN-003: is the private half of no public key"):
        rom_signing_of(signing(keys))
    with pytest.raises(N6Error, match="N6-SIGN-005"):
        rom_signing_of(signing(keys, fsbl="theirs.elf"))
    with pytest.raises(N6Error, match="N6-FUSE-003"):
        rom_signing_of(signing(rom_keys(tmp_path / "seven", 7)))
