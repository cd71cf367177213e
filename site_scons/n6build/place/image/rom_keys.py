"""Keys of the boot ROM, and the signature of an FSBL that a closed chip starts.

The layout is that of chapter 4 of ST's UM3234. How a digest is made was found with the keys that ST publishes beside their digest
(ROT_Provisioning/BootROM of STM32Cube N6). INFERRED: keys and signatures on P-256 fill the first 64 bytes of their fields.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import files_in
from n6build.base.size_text import counted
from n6build.describe.formats.boot_header import (
    ALGORITHM_P256,
    AUTHENTICATION,
    AUTHENTICATION_TYPE,
    BASE,
    HAS_AUTHENTICATION,
    HAS_ENCRYPTION,
    HEADER_BYTES,
)
from n6build.describe.formats.release import DIGEST_BYTES, SIGNATURE_BYTES
from n6build.place.image.boot_header import padding_extension
from n6build.place.image.signing import PUBLIC_KEYS
from n6build.place.trust.keys import is_signature, public_point
from n6build.place.trust.sign import Sign, covered, with_signature

# As many as ST's key generator makes; a board uses the one that an FSBL names.
_COUNT = 8
_WORD = 4
# The boot ROM of a closed chip lets only the signed bytes run, by regions of the MPU (section 3.2.2.1 of UM3234).
_ALIGNMENT = 32
_SIGNATURE = BASE.offset_of("signature")


@dataclass(frozen=True)
class FsblSignature:
    """A signature for the boot ROM.

    Attributes:
        number: Number of the key that signs.
        keys: Number of keys.
        digest: Digest of the keys, 32 bytes.
        fault: Reason why a closed chip rejects it, whatever its fuses are; empty for none.
    """

    number: int
    keys: int
    digest: bytes
    fault: str


def read_rom_keys(folder: Path) -> list[bytes]:
    """Return the public keys of the boot ROM, publicKey00.pem to publicKey07.pem.

    Raises:
        N6Error: N6-FUSE-003 unless there are eight; N6-TRUST-001 to N6-TRUST-003 if one cannot be read.
    """
    files = files_in(folder, PUBLIC_KEYS)
    if len(files) != _COUNT:
        what = f"has {counted(len(files), 'file')} {PUBLIC_KEYS}, the boot ROM has {_COUNT} keys"
        raise N6Error("N6-FUSE-003", what, where=str(folder), hint="make them with ST's key generator, with -n 8")
    return [public_point(file) for file in files]


def rom_key_digest(points: Iterable[bytes]) -> bytes:
    """Return the digest of the boot ROM's keys, 32 bytes.

    Args:
        points: Uncompressed points, 65 bytes each.
    """
    return hashlib.sha256(_table(points)).digest()


def signed_fsbl(image: bytes, points: Sequence[bytes], number: int, sign: Sign, version: int = 0) -> bytes:
    """Return an FSBL with the boot ROM's keys and a signature.

    Args:
        image: Image with its boot header and without a signature.
        points: Public keys of the boot ROM, as from `read_rom_keys`.
        number: Number of the key that signs.
        sign: Function that signs.
        version: Version of the FSBL, which the boot ROM compares with fuses.
    """
    table = _table(points)
    extension = AUTHENTICATION.pack(
        type=int.from_bytes(AUTHENTICATION_TYPE, "little"),
        bytes=AUTHENTICATION.size + len(table),
        key_number=number,
        key_count=len(points),
        algorithm=ALGORITHM_P256,
        key=points[number][1:],
    )
    room = HEADER_BYTES - BASE.size - AUTHENTICATION.size - len(table)
    body = image[HEADER_BYTES:]
    # The sum of the bytes stays the same.
    body += bytes(-len(body) % _ALIGNMENT)
    signed = bytearray(image[: BASE.size] + extension + table + padding_extension(room, body) + body)
    for name, value in (
        ("extensions", BASE.unpack(image)["extensions"] | HAS_AUTHENTICATION),
        ("image_version", version),
        ("image_bytes", len(body)),
    ):
        at = BASE.offset_of(name)
        signed[at : at + _WORD] = value.to_bytes(_WORD, "little")
    return with_signature(signed, sign)


def signature_of(image: bytes) -> FsblSignature | None:
    """Return the signature for the boot ROM, or None without one.

    Args:
        image: Image with a whole boot header.
    """
    base = BASE.unpack(image)
    if not base["extensions"] & HAS_AUTHENTICATION:
        return None
    found = AUTHENTICATION.unpack(image, BASE.size)
    number, keys = found["key_number"], found["key_count"]
    start = BASE.size + AUTHENTICATION.size
    table = image[start : start + DIGEST_BYTES * min(keys, _COUNT)]
    fault = ""
    if (
        found["type"] != int.from_bytes(AUTHENTICATION_TYPE, "little")
        or found["bytes"] != AUTHENTICATION.size + DIGEST_BYTES * keys
        or not number < keys <= _COUNT
    ):
        fault = "its authentication extension is damaged"
    elif base["extensions"] & HAS_ENCRYPTION or found["algorithm"] != ALGORITHM_P256:
        fault = "n6build verifies neither encrypted FSBLs nor other curves than P-256"
    else:
        at = BASE.size + AUTHENTICATION.offset_of("key")
        point = b"\x04" + image[at : at + SIGNATURE_BYTES]
        if _key_digest(point) != table[DIGEST_BYTES * number : DIGEST_BYTES * (number + 1)]:
            fault = f"its key is not number {number} of its table"
        elif not is_signature(
            point,
            image[_SIGNATURE : _SIGNATURE + SIGNATURE_BYTES],
            covered(image[: HEADER_BYTES + base["image_bytes"]]),
        ):
            fault = "its signature is wrong"
    return FsblSignature(number, keys, hashlib.sha256(table).digest(), fault)


def _table(points: Iterable[bytes]) -> bytes:
    return b"".join(map(_key_digest, points))


def _key_digest(point: bytes) -> bytes:
    return hashlib.sha256(ALGORITHM_P256.to_bytes(_WORD, "little") + point[1:]).digest()
