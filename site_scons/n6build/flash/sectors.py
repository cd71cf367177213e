"""Flash as sectors: what a manifest wants in each, and which of them a board still lacks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import read_part, sha256
from n6build.base.intel_hex import ERASED
from n6build.image.manifest import FlashManifest, Segment


@dataclass(frozen=True)
class Sector:
    """address: in the memory-mapped window. data: the whole sector; what no segment fills is erased (0xFF). image: address of
    the image that it belongs to."""

    address: int
    data: bytes
    image: int

    @property
    def sha256(self) -> str:
        """Of the whole sector, in hex."""
        return sha256(self.data)


def wanted_sectors(manifest: FlashManifest, folder: Path) -> list[Sector]:
    """Sorted by address. Raises N6-FLASH-001 where a file is not the one that the manifest was made from."""
    images = [(segment.address, segment_data(segment, folder)) for segment in manifest.segments]
    return sectors_of(images, manifest.sector)


def segment_data(segment: Segment, folder: Path) -> bytes:
    """What a segment of a manifest has to be. folder: of the manifest. Raises N6-FLASH-001."""
    data = read_part(folder / segment.file, segment.offset, segment.length)
    if sha256(data) != segment.sha256:
        what = "is not the file that the manifest lists"
        raise N6Error("N6-FLASH-001", what, where=segment.file, hint="build again")
    return data


def sectors_of(images: Sequence[tuple[int, bytes]], sector: int) -> list[Sector]:
    """images: (address of a sector, bytes), no two in one sector. sector: its size in bytes. Sorted by address."""
    return [
        Sector(address + start, data[start : start + sector].ljust(sector, bytes([ERASED])), address)
        for address, data in sorted(images)
        for start in range(0, len(data), sector)
    ]


def bytes_of(sectors: Iterable[Sector]) -> int:
    """Size of all of them together."""
    return sum(len(sector.data) for sector in sectors)


def runs_of(sectors: Sequence[Sector]) -> list[list[Sector]]:
    """Sectors grouped where they follow each other without a gap."""
    runs: list[list[Sector]] = []
    for sector in sectors:
        if runs and runs[-1][-1].address + len(runs[-1][-1].data) == sector.address:
            runs[-1].append(sector)
        else:
            runs.append([sector])
    return runs


def sectors_to_program(wanted: Sequence[Sector], held: Mapping[int, str]) -> list[Sector]:
    """Those that the board lacks. held: sector address -> SHA-256 of what the board is known to hold there."""
    return [sector for sector in wanted if held.get(sector.address) != sector.sha256]
