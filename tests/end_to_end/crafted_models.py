"""Relocatable models with faulty code."""

from __future__ import annotations

import struct
from pathlib import Path

from n6build.place.reloc.reader import parse_reloc_file

from end_to_end.test_reloc import resealed


def halfwords(*words: int) -> bytes:
    """Return Thumb instructions."""
    return struct.pack(f"<{len(words)}H", *words)


def load(register: int, value: int) -> bytes:
    """Return the instructions movw and movt, which load a value into a register."""

    def half(opcode: int, part: int) -> bytes:
        first = opcode | (part >> 11 & 1) << 10 | part >> 12
        return halfwords(first, (part >> 8 & 7) << 12 | register << 8 | part & 0xFF)

    return half(0xF240, value & 0xFFFF) + half(0xF2C0, value >> 16)


HANGS = halfwords(0xE7FE)  # b .
MASKED = halfwords(0xB672)  # cpsid i
FAULTS = halfwords(0xDEFE)  # udf
RETURNS = halfwords(0x4770)  # bx lr


def writes(address: int, value: int) -> bytes:
    """Return code that writes a word."""
    return load(0, address) + load(1, value) + halfwords(0x6001)  # str r1, [r0]


# SYSRESETREQ in AIRCR resets the chip.
RESETS = writes(0xE000ED0C, 0x05FA0004) + HANGS


def put_code(file: Path, code: bytes, entry: str = "input_buffers_info") -> None:
    """Put code into the model in a slot's image, at an entry, and fix the trailer.

    The default entry is the one that is called first.
    """
    image = file.read_bytes()
    model = parse_reloc_file(image, "model.bin")

    def change(data: bytearray) -> None:
        at = model.entries[entry] & 0x0FFFFFFE
        data[at : at + len(code)] = code

    file.write_bytes(resealed(image, model.file_bytes, change))
