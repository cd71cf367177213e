"""Encryption of the parts in flash that a board copies to RAM.

The nonce is a keyed digest of the content: equal content gives equal bytes, and no two contents share a key stream.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from n6build.base.errors import N6Error
from n6build.base.files import read_at_most
from n6build.describe.formats.boot_header import BASE, HEADER_BYTES
from n6build.describe.formats.boot_header import MAGIC as HEADER_MAGIC
from n6build.describe.formats.encryption import APPLI_OFFSET, ENCRYPTION, KEY_BYTES, MAGIC, NONCE_BYTES

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import CipherContext

_LARGEST_FILE = 1024
_BLOCK = 16
_WORD = 4


@dataclass(frozen=True)
class Encryption:
    """The key of encrypted parts.

    Attributes:
        key: File of the key, which only steps that encrypt read.
        mark: Mark of the key. Steps depend on it, not on the file.
    """

    key: str
    mark: int


def read_key(file: Path) -> bytes:
    """Return the key in a file of 64 hexadecimal digits.

    Raises:
        N6Error: N6-TRUST-012 if the file has another content; N6-FILE-002, N6-FILE-003.
    """
    try:
        key = bytes.fromhex(read_at_most(file, _LARGEST_FILE).decode("ascii"))
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES or not any(key):
        what = f"has no key for AES-256, which is {2 * KEY_BYTES} hexadecimal digits and not 0"
        raise N6Error("N6-TRUST-012", what, where=str(file), hint=f"openssl rand -hex {KEY_BYTES} > FILE")
    return key


def encryption_of(file: Path) -> Encryption:
    """Return the encryption with the key in a file.

    Raises:
        N6Error: As `read_key`.
    """
    return Encryption(str(file), mark_of(read_key(file)))


def mark_of(key: bytes) -> int:
    """Return the mark of a key, by which a board knows another one."""
    return int.from_bytes(hashlib.sha256(key).digest()[:_WORD], "little")


def key_words(key: bytes) -> tuple[int, ...]:
    """Return the key as fuse words."""
    return tuple(int.from_bytes(key[at : at + _WORD], "little") for at in range(0, len(key), _WORD))


def record(chunks: Iterable[bytes], key: bytes) -> bytes:
    """Return the record of an encrypted part.

    Args:
        chunks: Content of the part, in chunks of any size.
        key: Key of the part.
    """
    digest = hmac.new(key, digestmod="sha256")
    for chunk in chunks:
        digest.update(chunk)
    magic = int.from_bytes(MAGIC, "little")
    return ENCRYPTION.pack(magic=magic, nonce=digest.digest()[:NONCE_BYTES], mark=mark_of(key))


def encrypted(chunks: Iterable[bytes], record: bytes, key: bytes) -> Iterator[bytes]:
    """Yield the encrypted chunks of a part, or decrypt encrypted ones."""
    stream = _stream(record, key)
    for chunk in chunks:
        yield stream.update(chunk)


def marked_appli(image: bytes, key: bytes) -> bytes:
    """Return an Appli with its record in its header, to be signed and then encrypted."""
    return image[:APPLI_OFFSET] + record([image[HEADER_BYTES:]], key) + image[APPLI_OFFSET + ENCRYPTION.size :]


def encrypted_appli(image: bytes, key: bytes) -> bytes:
    """Return a marked Appli with its payload encrypted.

    The checksum is that of the encrypted bytes, so that each reader of flash can check them.
    """
    payload = _stream(image[APPLI_OFFSET:], key).update(image[HEADER_BYTES:])
    whole = bytearray(image[:HEADER_BYTES] + payload)
    at = BASE.offset_of("checksum")
    whole[at : at + _WORD] = (sum(payload) & 0xFFFF_FFFF).to_bytes(_WORD, "little")
    return bytes(whole)


def is_encrypted(appli: bytes) -> bool:
    """Return whether an Appli with its header is encrypted."""
    return appli.startswith(HEADER_MAGIC) and appli[APPLI_OFFSET : APPLI_OFFSET + len(MAGIC)] == MAGIC


def _stream(record: bytes, key: bytes) -> CipherContext:
    from cryptography.hazmat.primitives.ciphers import Cipher  # noqa: PLC0415 - only to encrypt.
    from cryptography.hazmat.primitives.ciphers.algorithms import AES  # noqa: PLC0415
    from cryptography.hazmat.primitives.ciphers.modes import CTR  # noqa: PLC0415

    nonce = record[ENCRYPTION.offset_of("nonce") :][:NONCE_BYTES]
    return Cipher(AES(key), CTR(nonce.ljust(_BLOCK, b"\0"))).encryptor()
