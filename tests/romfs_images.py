"""A reader of romfs images."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_MAGIC = 0x14A6B1
_FILE, _DATA, _PADDING = 5, 2, 1


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


def read_romfs(image: bytes) -> list[PlacedFile]:
    """Return the files of an image; the assertions fail if it is not one."""
    magic, at = _number(image, 0)
    length, at = _number(image, at)
    assert (magic, at + length) == (_MAGIC, len(image))
    return [_placed(image, start, end) for kind, start, end in _records(image, at, len(image)) if kind == _FILE]


def _number(image: bytes, at: int) -> tuple[int, int]:
    """Return (value, end offset) of a number, which may have many leading zeros."""
    value = 0
    while image[at] & 0x80:
        value, at = (value | image[at] & 0x7F) << 7, at + 1
    return value | image[at], at + 1


def _records(image: bytes, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield (kind, start, end) of each record's content."""
    while at < end:
        kind, at = _number(image, at)
        length, at = _number(image, at)
        yield kind, at, at + length
        at += length
    assert at == end


def _placed(image: bytes, at: int, end: int) -> PlacedFile:
    length, at = _number(image, at)
    name = image[at : at + length].decode("ascii")
    ((kind, start, stop),) = [record for record in _records(image, at + length, end) if record[0] != _PADDING]
    assert kind == _DATA
    return PlacedFile(name, start, stop - start)
