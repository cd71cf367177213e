"""Eight keys of a boot ROM, and FSBLs that they sign."""

from __future__ import annotations

from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, derive_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from n6build.place.image.rom_keys import read_rom_keys, signed_fsbl
from n6build.place.trust.keys import signature

COUNT = 8


def rom_keys(folder: Path, count: int = COUNT) -> Path:
    """Write public keys, named as by ST's key generator, and return their folder."""
    folder.mkdir()
    for number in range(count):
        public = derive_private_key(number + 5, SECP256R1()).public_key()
        text = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        (folder / f"publicKey{number:02}.pem").write_bytes(text)
    return folder


def private_key(folder: Path, number: int) -> Path:
    """Write a private key beside the public ones, and return its file."""
    private = derive_private_key(number + 5, SECP256R1())
    file = folder / f"privateKey{number:02}.pem"
    file.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    file.chmod(0o600)
    return file


def signed(image: bytes, folder: Path, number: int = 0, version: int = 0) -> bytes:
    """Return an FSBL that a key of a folder signs."""
    points = read_rom_keys(folder)
    key = private_key(folder, number)
    return signed_fsbl(image, points, number, lambda data: signature(key, points[number], data), version)
