"""One Intel hex file of everything in flash, for any programmer that takes one; written as a stream, since weights are large.

Byte for byte what IntelHex.write_hex_file writes; that keeps every byte as an entry of a dictionary.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from intelhex import Record

from n6build.base.errors import N6Error
from n6build.base.files import file_size, read_in_chunks
from n6build.image.manifest import Segment

# What one extended linear address record covers. No record crosses its end, so pages do not depend on each other.
_PAGE = 1 << 16
_RECORD_BYTES = 16


@dataclass(frozen=True)
class _Placed:
    """size: bytes, from `offset` in the file."""

    name: str
    address: int
    path: Path
    offset: int
    size: int

    @property
    def end(self) -> int:
        return self.address + self.size


def hex_chunks(segments: Sequence[Segment], folder: Path) -> Iterator[bytes]:
    """The file in pieces, each of no more than 64 KiB of flash. Raises N6-IMAGE-006 where two segments overlap, before any."""
    placed = [_placed(each, folder / each.file) for each in segments]
    ordered = sorted((part for part in placed if part.size), key=lambda part: part.address)
    for part, behind in itertools.pairwise(ordered):
        if part.end > behind.address:
            raise N6Error("N6-IMAGE-006", f"{behind.name} overlaps {part.name}", where=behind.path.name)
    extended = bool(ordered) and ordered[-1].end > _PAGE
    return _records(_runs(_pieces(ordered)), extended=extended)


def _placed(segment: Segment, path: Path) -> _Placed:
    """As far as the file reaches."""
    size = min(segment.length, max(file_size(path) - segment.offset, 0))
    return _Placed(segment.name, segment.address, path, segment.offset, size)


def _pieces(parts: Iterable[_Placed]) -> Iterator[tuple[int, bytes]]:
    """(address, data), none across the end of a page."""
    for part in parts:
        address = part.address
        for data in read_in_chunks(part.path, _PAGE, first=_PAGE - address % _PAGE, offset=part.offset, size=part.size):
            yield address, data
            address += len(data)


def _runs(pieces: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Pieces joined where one follows another in a page: a record may hold the end of one segment and the start of the next."""
    start, run = 0, b""
    for address, data in pieces:
        if run and address % _PAGE and address == start + len(run):
            run += data
            continue
        if run:
            yield start, run
        start, run = address, data
    if run:
        yield start, run


def _records(runs: Iterable[tuple[int, bytes]], *, extended: bool) -> Iterator[bytes]:
    """extended: whether addresses need more than 16 bits."""
    page = None
    for start, run in runs:
        lines = []
        if extended and start // _PAGE != page:
            page = start // _PAGE
            lines.append(Record.extended_linear_address(page))
        for at in range(0, len(run), _RECORD_BYTES):
            lines.append(Record.data((start + at) % _PAGE, list(run[at : at + _RECORD_BYTES])))
        yield _text(lines)
    yield _text([Record.eof()])


def _text(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
