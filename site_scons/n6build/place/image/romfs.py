"""Images of MicroPython's read-only file system, as OpenMV's firmware mounts them.

Files follow one another, without folders. A record has a kind, the length of its content, and the
content. Numbers are written in groups of 7 bits, the highest first, with bit 7 set in all but the last.
Leading groups of zeros are allowed, and align the data here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from n6build.base.errors import N6Error

_MAGIC = 0x14A6B1
_FILE = 5
_DATA = 2
# OpenMV's tool has the same layout: offset of the first record, and of a file's content after the start of its record.
_HEADER_BYTES = 16
_FILE_HEADER_BYTES = 8
MAX_ALIGNMENT = 1 << 16


@dataclass(frozen=True)
class RomfsFile:
    """A file for the image.

    Attributes:
        name: Name in the image.
        data: Content.
        alignment: Alignment of the content in the image, in bytes; a power of two.
    """

    name: str
    data: bytes
    alignment: int


def encode_number(value: int, width: int = 0) -> bytes:
    """Return a number in groups of 7 bits, the highest first.

    Args:
        value: Number to encode.
        width: Minimum number of bytes.
    """
    groups = [value & 0x7F]
    while value := value >> 7:
        groups.insert(0, 0x80 | value & 0x7F)
    return b"\x80" * (width - len(groups)) + bytes(groups)


def make_romfs(files: Sequence[RomfsFile]) -> bytes:
    """Return the image of the files.

    Raises:
        N6Error: N6-ROMFS-001 if a name is not allowed or appears twice.
    """
    body = bytearray()
    seen: set[str] = set()
    for file in files:
        if not file.name.isascii() or not file.name.isprintable() or "/" in file.name or not 0 < len(file.name) < 128:
            raise N6Error(
                "N6-ROMFS-001", f"'{file.name}' is not a valid name for a file: up to 127 ASCII letters, no '/'"
            )
        if file.name in seen:
            raise N6Error("N6-ROMFS-001", f"two files are called '{file.name}'", hint="rename one of the files")
        seen.add(file.name)
        body += _file_record(file, _HEADER_BYTES + len(body))
    magic = encode_number(_MAGIC)
    return magic + encode_number(len(body), _HEADER_BYTES - len(magic)) + bytes(body)


def _file_record(file: RomfsFile, start: int) -> bytes:
    """Return the record of a file that begins at offset `start` of the image."""
    name = file.name.encode("ascii")
    named = encode_number(len(name)) + name
    kind, length = encode_number(_DATA), encode_number(len(file.data))
    unaligned = start + _FILE_HEADER_BYTES + len(named) + len(kind) + len(length)
    width = len(length) + -unaligned % file.alignment
    content = named + kind + encode_number(len(file.data), width) + file.data
    head = encode_number(_FILE)
    return head + encode_number(len(content), _FILE_HEADER_BYTES - len(head)) + content
