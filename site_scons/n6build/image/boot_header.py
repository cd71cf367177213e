"""The header that the boot ROM (and our FSBL) expect in front of a program: version 2.3, unsigned.

Layout checked byte by byte against images made by STM32_SigningTool_CLI: 0xA0 bytes of base header, a padding extension
up to 0x240, zeros up to 0x400, then the payload, vector table first.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from enum import IntEnum

from n6build.base.errors import N6Error

MAGIC = b"STM2"
BASE_BYTES = 0xA0
HEADER_BYTES = 0x240
PAYLOAD_OFFSET = 0x400
VERSION_2_3 = 0x0002_0300

_PADDING_EXTENSION_BYTES = HEADER_BYTES - BASE_BYTES
_PADDING_EXTENSION_TYPE = b"ST\xff\xff"
_ONLY_PADDING_EXTENSION = 0x8000_0000
_ANY_LOAD_ADDRESS = 0xFFFF_FFFF
_BASE = struct.Struct("<4s 96s 6I 5I 8x 2I")


class BinaryType(IntEnum):
    """FSBL: what the boot ROM loads. SSBL: what an FSBL loads."""

    SSBL = 0x00
    FSBL = 0x10


@dataclass(frozen=True)
class BootHeader:
    """image_length: bytes behind the header (HEADER_BYTES). checksum: sum of those bytes, modulo 2^32."""

    checksum: int
    version: int
    image_length: int
    entry: int
    binary_type: int


def with_boot_header(payload: bytes, address: int, binary_type: BinaryType) -> bytes:
    """The whole image for flash. payload: vector table first; its second word is the entry point, Thumb bit kept.

    address: where the payload will run. Raises N6-IMAGE-002, N6-IMAGE-003 where it does not begin with its vector table.
    """
    if len(payload) < 8:
        raise N6Error("N6-IMAGE-002", f"a payload of {len(payload)} bytes holds no vector table")
    entry = struct.unpack_from("<I", payload, 4)[0]
    if entry & 1 == 0:
        raise N6Error(
            "N6-IMAGE-003", f"the reset vector 0x{entry:08X} lacks the Thumb bit", hint="is .vectors the first section?"
        )
    if not address <= entry < address + len(payload):
        what = f"the reset vector 0x{entry:08X} is outside the program (0x{address:08X}, {len(payload)} bytes)"
        raise N6Error("N6-IMAGE-003", what, hint="is .vectors the first section?")
    body = bytes(PAYLOAD_OFFSET - HEADER_BYTES) + payload
    base = _BASE.pack(
        MAGIC,
        bytes(96),
        sum(body) & 0xFFFF_FFFF,
        VERSION_2_3,
        len(body),
        entry,
        0,
        _ANY_LOAD_ADDRESS,
        0,
        0,
        _ONLY_PADDING_EXTENSION,
        _PADDING_EXTENSION_BYTES,
        binary_type,
        0,
        0,
    )
    extension_head = _PADDING_EXTENSION_TYPE + struct.pack("<I", _PADDING_EXTENSION_BYTES)
    # ST's tool fills the extension with random bytes; these look the same and are equal for equal payloads.
    filler = hashlib.shake_128(payload).digest(_PADDING_EXTENSION_BYTES - len(extension_head))
    return base + extension_head + filler + body


def read_boot_header(image: bytes, where: str) -> BootHeader:
    """Raises N6-IMAGE-004 for anything that a boot ROM would refuse: magic, version, length, checksum, entry."""

    def refuse(what: str) -> N6Error:
        return N6Error("N6-IMAGE-004", what, where=where)

    if len(image) < PAYLOAD_OFFSET + 8:
        raise refuse(f"{len(image)} bytes are too few for a boot header and a vector table")
    magic, _, checksum, version, length, entry, *_rest = _BASE.unpack_from(image)
    if magic != MAGIC:
        raise refuse(f'begins with {magic.hex()} instead of {MAGIC.hex()}, "STM2"')
    if version != VERSION_2_3:
        raise refuse(f"has header version 0x{version:08X}, not 0x{VERSION_2_3:08X}")
    if length != len(image) - HEADER_BYTES:
        raise refuse(f"says {length} bytes behind the header, the file has {len(image) - HEADER_BYTES}")
    found = sum(image[HEADER_BYTES:]) & 0xFFFF_FFFF
    if found != checksum:
        raise refuse(f"has checksum 0x{checksum:08X}, its bytes sum up to 0x{found:08X}")
    reset_vector = struct.unpack_from("<I", image, PAYLOAD_OFFSET + 4)[0]
    if entry != reset_vector:
        raise refuse(f"has entry 0x{entry:08X}, its vector table says 0x{reset_vector:08X}")
    return BootHeader(checksum, version, length, entry, _BASE.unpack_from(image)[12])
