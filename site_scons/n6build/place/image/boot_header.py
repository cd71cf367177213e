"""Writer of boot headers, and check of third-party ones."""

from __future__ import annotations

import hashlib
import struct

from n6build.base.errors import N6Error
from n6build.describe.formats.boot_header import (
    ACCEPTED_VERSIONS,
    BASE,
    HEADER_BYTES,
    MAGIC,
    STACK_ALIGNMENT,
    VECTOR_BYTES,
    VERSION_2_3,
    BinaryType,
)

_PADDING_EXTENSION_BYTES = HEADER_BYTES - BASE.size
_PADDING_EXTENSION_TYPE = b"ST\xff\xff"
_ONLY_PADDING_EXTENSION = 0x8000_0000
_ANY_LOAD_ADDRESS = 0xFFFF_FFFF


def with_boot_header(
    payload: bytes, address: int, binary_type: BinaryType, payload_offset: int, where: str | None = None
) -> bytes:
    """Return the whole image for flash.

    Args:
        payload: Program, which begins with its vector table. The second word is the entry point, Thumb
            bit kept.
        address: Address where the payload will run.
        binary_type: Type for the header.
        payload_offset: Bytes from the start of the image to the payload, from the chip's description;
            at least HEADER_BYTES.
        where: File of the payload, for messages.

    Raises:
        N6Error: N6-IMAGE-002 if the payload is too short; N6-IMAGE-003 if it does not begin with its
            vector table.
    """
    if len(payload) < VECTOR_BYTES:
        raise N6Error("N6-IMAGE-002", f"a payload of {len(payload)} bytes is too short for a vector table", where=where)
    entry = struct.unpack_from("<I", payload, 4)[0]
    if entry & 1 == 0:
        what = f"the reset vector 0x{entry:08X} has no Thumb bit"
        raise N6Error("N6-IMAGE-003", what, where=where, hint="make .vectors the first section in the linker script")
    if not address <= entry < address + len(payload):
        what = f"the reset vector 0x{entry:08X} is outside the program (0x{address:08X}, {len(payload)} bytes)"
        raise N6Error("N6-IMAGE-003", what, where=where, hint="make .vectors the first section in the linker script")
    body = bytes(payload_offset - HEADER_BYTES) + payload
    base = BASE.pack(
        magic=int.from_bytes(MAGIC, "little"),
        checksum=sum(body) & 0xFFFF_FFFF,
        version=VERSION_2_3,
        image_bytes=len(body),
        entry=entry,
        load_address=_ANY_LOAD_ADDRESS,
        extensions=_ONLY_PADDING_EXTENSION,
        extension_bytes=_PADDING_EXTENSION_BYTES,
        binary_type=binary_type,
    )
    return base + padding_extension(_PADDING_EXTENSION_BYTES, payload) + body


def padding_extension(size: int, payload: bytes) -> bytes:
    """Return the extension that fills the header.

    ST's tool fills it with random bytes. These bytes look random, but equal payloads have equal ones.

    Args:
        size: Size of the extension in bytes.
        payload: Program behind the header.
    """
    head = _PADDING_EXTENSION_TYPE + struct.pack("<I", size)
    return head + hashlib.shake_128(payload).digest(size - len(head))


def check_foreign_header(image: bytes, where: str, payload_offset: int) -> None:
    """Check the boot header of a third-party image as the boot ROM and FSBLs do.

    Flash padding may follow the image, and the entry may be anywhere.

    Args:
        image: The whole file.
        where: Name of the file.
        payload_offset: As in `with_boot_header`.

    Raises:
        N6Error: N6-IMAGE-004 if the version is unknown, the length is beyond the end, the checksum is
            wrong, or the program was signed without -align.
    """
    what = ""
    if len(image) < HEADER_BYTES:
        what = f"{len(image)} bytes are too few for a boot header"
    else:
        base = BASE.unpack(image)
        end = HEADER_BYTES + base["image_bytes"]
        if base["version"] not in ACCEPTED_VERSIONS:
            what = f"has header version 0x{base['version']:08X}"
        elif end > len(image):
            what = (
                f"announces {base['image_bytes']} bytes after the header, but the file has {len(image) - HEADER_BYTES}"
            )
        elif (found := sum(image[HEADER_BYTES:end]) & 0xFFFF_FFFF) != base["checksum"]:
            what = f"has checksum 0x{base['checksum']:08X}, but its bytes add up to 0x{found:08X}"
    hint = "sign the program again, or pass its ELF file"
    if not what and _is_signed_unaligned(image, payload_offset):
        what = f"was signed without -align: its vector table is at 0x{HEADER_BYTES:X} of the file, not at 0x{payload_offset:X}"
        hint = "add -align to STM32_SigningTool_CLI (2.21 and later), or pass the ELF file"
    if what:
        raise N6Error("N6-IMAGE-004", what, where=where, hint=hint)


def _is_signed_unaligned(image: bytes, payload_offset: int) -> bool:
    """Return true for an image whose vector table follows its header at once.

    ST's signing tool from 2.21 on makes such images without -align. Boot ROM and FSBLs expect the table
    further behind, and the tool takes the entry from there, too. Up to 2.20 it always aligned the table.
    """
    return _is_vector_table(image, HEADER_BYTES) and not _is_vector_table(image, payload_offset)


def _is_vector_table(image: bytes, offset: int) -> bool:
    if len(image) < offset + VECTOR_BYTES:
        return False
    stack, reset = struct.unpack_from("<II", image, offset)
    return bool(stack) and stack % STACK_ALIGNMENT == 0 and bool(reset & 1)
