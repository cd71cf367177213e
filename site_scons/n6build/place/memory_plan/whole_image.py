"""Checks that an image is complete, by its own header or trailer.

They run before the image gets a place in flash.
"""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import read_in_chunks, read_part
from n6build.describe.formats.boot_header import BASE, HEADER_BYTES, MAGIC, VECTOR_BYTES, BinaryType
from n6build.describe.formats.slot_trailer import MAGIC as SLOT_MAGIC
from n6build.describe.formats.slot_trailer import TRAILER as SLOT_TRAILER
from n6build.place.image.boot_header import check_foreign_header
from n6build.place.memory_plan.slot_image import trailer_offset
from n6build.place.reloc.reader import parse_reloc_file
from n6build.place.reloc.slots import read_trailer
from n6build.place.trust.encryption import is_encrypted


def check_program(image: bytes, kind: BinaryType, payload_offset: int, where: str) -> None:
    """Check the boot header of a program of this project, signed by ST's tool or not.

    Args:
        image: Image of the program.
        kind: Expected type in the boot header.
        payload_offset: Bytes from the start of the image to the vector table.
        where: Name of the file, for messages.

    Raises:
        N6Error: N6-IMAGE-004 if the header does not match the image.
    """
    if image[: len(MAGIC)] != MAGIC:
        raise _damaged(f"begins with {image[: len(MAGIC)].hex()} instead of {MAGIC.hex()}", where)
    check_foreign_header(image, where, payload_offset)
    header = BASE.unpack(image)
    if header["binary_type"] != kind:
        raise _damaged(f"has type 0x{header['binary_type']:02X}, but a program for this slot has 0x{kind:02X}", where)
    if HEADER_BYTES + header["image_bytes"] < payload_offset + VECTOR_BYTES:
        raise _damaged("ends before its vector table", where)
    if kind == BinaryType.SSBL and is_encrypted(image):
        return
    reset_vector = struct.unpack_from("<I", image, payload_offset + 4)[0]
    if header["entry"] != reset_vector:
        raise _damaged(f"has entry 0x{header['entry']:08X}, but its vector table has 0x{reset_vector:08X}", where)


def check_slot_data(path: Path, size: int) -> None:
    """Check weights or test vectors by their trailer.

    Args:
        path: Image with its trailer.
        size: Bytes of the data.

    Raises:
        N6Error: N6-IMAGE-009 if the trailer does not match the data.
    """
    packed = read_part(path, trailer_offset(size), SLOT_TRAILER.size)
    found = SLOT_TRAILER.unpack(packed) if len(packed) == SLOT_TRAILER.size else {}
    crc32 = 0
    for chunk in read_in_chunks(path, size=size):
        crc32 = zlib.crc32(chunk, crc32)
    wanted = {"magic": int.from_bytes(SLOT_MAGIC, "little"), "bytes": size, "crc32": crc32}
    if any(found.get(name) != value for name, value in wanted.items()):
        raise _incomplete(path.name)


def check_model(image: bytes, where: str) -> int:
    """Check a relocatable model for its slot.

    Args:
        image: Image with its trailer.
        where: Name of the file, for messages.

    Returns:
        Bytes of the weights in a separate file.

    Raises:
        N6Error: N6-IMAGE-009 if the trailer is missing; N6-RELOC-03x if the file is not a relocatable
            model.
    """
    model = parse_reloc_file(image, where)
    if read_trailer(image, model.file_bytes) is None:
        raise _incomplete(where)
    return model.params_bytes


def check_model_weights(image: bytes, size: int, where: str) -> None:
    """Check the separate weights of a relocatable model.

    Args:
        image: Image with its trailer.
        size: Bytes of the weights, from `check_model`.
        where: Name of the file, for messages.

    Raises:
        N6Error: N6-IMAGE-009 if the trailer is missing.
    """
    if read_trailer(image, size) is None:
        raise _incomplete(where)


def _damaged(what: str, where: str) -> N6Error:
    return N6Error("N6-IMAGE-004", what, where=where, hint="build again")


def _incomplete(where: str) -> N6Error:
    what = "does not end with the trailer of its data: the file was truncated or damaged"
    return N6Error("N6-IMAGE-009", what, where=where, hint="build again; the board keeps its old image")
