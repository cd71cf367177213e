"""Flash sectors of a manifest, and those that a board still lacks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import read_in_chunks, read_part, sha256
from n6build.base.intel_hex import ERASED
from n6build.place.image.manifest import FlashManifest, Segment


@dataclass(frozen=True)
class FilePart:
    """Bytes [offset, offset + size) of a file; the name is for messages."""

    path: Path
    offset: int
    size: int
    name: str


@dataclass(frozen=True)
class Sector:
    """A sector of the flash.

    Attributes:
        address: Address in the memory-mapped window.
        size: Size in bytes.
        sha256: SHA-256 of the whole sector, in hex.
        image: Address of the image that it belongs to.
        content: Bytes of a segment; a file is read later, since weights may be larger than memory.
    """

    address: int
    size: int
    sha256: str
    image: int
    content: bytes | FilePart

    @property
    def data(self) -> bytes:
        """Return the whole sector; unused bytes are erased (0xFF).

        Raises:
            N6Error: N6-FLASH-001 if the file has changed.
        """
        if isinstance(self.content, bytes):
            return _filled(self.content, self.size)
        part = self.content
        data = _filled(read_part(part.path, part.offset, part.size), self.size)
        if sha256(data) != self.sha256:
            raise _another_file(part.name)
        return data


def wanted_sectors(manifest: FlashManifest, folder: Path) -> list[Sector]:
    """Return the sectors of a manifest, sorted by address.

    Raises:
        N6Error: N6-FLASH-001 if a file differs from the one in the manifest.
    """
    segments = sorted(manifest.segments, key=lambda segment: segment.address)
    return [sector for segment in segments for sector in _sectors_of_segment(segment, folder, manifest.sector)]


def _sectors_of_segment(segment: Segment, folder: Path, size: int) -> list[Sector]:
    """Return the sectors of a segment, in one pass over the file."""
    path, whole, at = folder / segment.file, hashlib.sha256(), 0
    sectors = []
    for data in read_in_chunks(path, size, offset=segment.offset, size=segment.length):
        whole.update(data)
        part = FilePart(path, segment.offset + at, len(data), segment.file)
        sectors.append(Sector(segment.address + at, size, sha256(_filled(data, size)), segment.address, part))
        at += len(data)
    if whole.hexdigest() != segment.sha256:
        raise _another_file(segment.file)
    return sectors


def segment_data(segment: Segment, folder: Path) -> bytes:
    """Return the bytes of a segment.

    Args:
        segment: Segment of a manifest.
        folder: Folder of the manifest.

    Raises:
        N6Error: N6-FLASH-001 if the file differs from the one in the manifest.
    """
    data = read_part(folder / segment.file, segment.offset, segment.length)
    if sha256(data) != segment.sha256:
        raise _another_file(segment.file)
    return data


def _another_file(name: str) -> N6Error:
    return N6Error("N6-FLASH-001", "is not the file that the manifest lists", where=name, hint="build again")


def _filled(data: bytes, size: int) -> bytes:
    return data.ljust(size, bytes([ERASED]))


def sectors_of(images: Sequence[tuple[int, bytes]], sector: int) -> list[Sector]:
    """Return the sectors of images, sorted by address.

    Args:
        images: Address of a sector, and bytes; no two images share a sector.
        sector: Size of a sector in bytes.
    """
    return [
        _sector(address + start, data[start : start + sector], sector, address)
        for address, data in sorted(images)
        for start in range(0, len(data), sector)
    ]


def _sector(address: int, data: bytes, size: int, image: int) -> Sector:
    return Sector(address, size, sha256(_filled(data, size)), image, data)


def bytes_of(sectors: Iterable[Sector]) -> int:
    """Return the size of all sectors together."""
    return sum(sector.size for sector in sectors)


def runs_of(sectors: Sequence[Sector]) -> list[list[Sector]]:
    """Return the sectors in groups without gaps."""
    runs: list[list[Sector]] = []
    for sector in sectors:
        if runs and runs[-1][-1].address + runs[-1][-1].size == sector.address:
            runs[-1].append(sector)
        else:
            runs.append([sector])
    return runs


def sectors_to_program(wanted: Sequence[Sector], held: Mapping[int, str]) -> list[Sector]:
    """Return the sectors that the board lacks.

    Args:
        wanted: All sectors.
        held: Sector address -> SHA-256 of the known content.
    """
    return [sector for sector in wanted if held.get(sector.address) != sector.sha256]
