"""Images of MicroPython's read-only file system, as OpenMV's firmware mounts them.

Files follow one another, without folders. A record has a kind, the length of its content, and the
content. Numbers are written in groups of 7 bits, the highest first, with bit 7 set in all but the last.
Leading groups of zeros are allowed, and align the data here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from n6build.base.errors import N6Error

_MAGIC = 0x14A6B1
_FILE = 5
_DATA = 2
_PADDING = 1
# OpenMV's tool has the same layout: offset of the first record, and of a file's content after the start of its record.
_HEADER_BYTES = 16
_FILE_HEADER_BYTES = 8
_LONGEST_NUMBER = 9
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


@dataclass(frozen=True)
class PlacedFile:
    """A file in an image.

    Attributes:
        name: Name in the image.
        offset: Offset of the content in the image, in bytes.
        size: Size of the content, in bytes.
    """

    name: str
    offset: int
    size: int


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


def read_romfs(image: bytes, name: str) -> list[PlacedFile]:
    """Return the files of an image.

    Args:
        image: Content of the image.
        name: Name of the image, for messages.

    Raises:
        N6Error: N6-ROMFS-002 if the image is not a romfs or is cut off.
    """
    magic, at = _number(image, 0, name)
    length, at = _number(image, at, name)
    if magic != _MAGIC:
        raise N6Error("N6-ROMFS-002", "is not a romfs image: it does not begin with D2 CD 31", where=name)
    if length > len(image) - at:
        what = f"ends after {len(image)} bytes, but its header reports {at + length}"
        raise N6Error("N6-ROMFS-002", what, where=name)
    return [
        _placed(image, start, end, name) for kind, start, end in _records(image, at, at + length, name) if kind == _FILE
    ]


def _number(image: bytes, at: int, name: str) -> tuple[int, int]:
    """Return (value, end offset) of a number, which may have many leading zeros."""
    value, digits = 0, 0
    while at < len(image):
        byte = image[at]
        at += 1
        value = value << 7 | byte & 0x7F
        digits += bool(value)
        if digits > _LONGEST_NUMBER:
            break
        if not byte & 0x80:
            return value, at
    raise N6Error("N6-ROMFS-002", f"has no number at 0x{at:X}", where=name)


def _records(image: bytes, at: int, end: int, name: str) -> Iterator[tuple[int, int, int]]:
    """Yield (kind, start, end) of each record's content."""
    while at < end:
        kind, at = _number(image, at, name)
        length, at = _number(image, at, name)
        if length > end - at:
            raise N6Error(
                "N6-ROMFS-002", f"the record at 0x{at:X} has {length} bytes, but only {end - at} are left", where=name
            )
        yield kind, at, at + length
        at += length


def _placed(image: bytes, at: int, end: int, name: str) -> PlacedFile:
    length, at = _number(image, at, name)
    if length > end - at:
        raise N6Error(
            "N6-ROMFS-002", f"the name at 0x{at:X} has {length} bytes, but only {end - at} are left", where=name
        )
    file = image[at : at + length].decode("ascii", "replace")
    for kind, start, stop in _records(image, at + length, end, name):
        if kind == _DATA:
            return PlacedFile(file, start, stop - start)
        if kind != _PADDING:
            raise N6Error("N6-ROMFS-002", f"file {file} has a record of the unknown kind {kind}", where=name)
    return PlacedFile(file, end, 0)
