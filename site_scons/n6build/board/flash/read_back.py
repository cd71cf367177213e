"""Verification by reading the flash back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from n6build.base.errors import N6Error
from n6build.base.files import sha256
from n6build.base.span import Span
from n6build.board.flash.sectors import Sector, bytes_of, runs_of

Read = Callable[[Sequence[Span]], list[bytes]]


# Most bytes that are read and kept at a time.
_BATCH_BYTES = 4 << 20


def read_sectors(sectors: Sequence[Sector], read: Read) -> Iterator[bytes]:
    """Yield the flash content of each sector; adjacent sectors are read together."""
    for batch in _batches(sectors):
        runs = runs_of(batch)
        found = read([Span(run[0].address, bytes_of(run)) for run in runs])
        for run, data in zip(runs, found, strict=True):
            start = 0
            for sector in run:
                yield data[start : start + sector.size]
                start += sector.size


def _batches(sectors: Sequence[Sector]) -> Iterator[Sequence[Sector]]:
    first = size = 0
    for number, sector in enumerate(sectors):
        if size and size + sector.size > _BATCH_BYTES:
            yield sectors[first:number]
            first, size = number, 0
        size += sector.size
    if size:
        yield sectors[first:]


def check_read_back(sectors: Sequence[Sector], read: Read, where: str) -> None:
    """Check that the flash holds these sectors.

    Args:
        sectors: The sectors.
        read: Read function of a programmer.
        where: Name of the board, for the error.

    Raises:
        N6Error: N6-FLASH-004 for the first sector that differs.
    """
    for sector, data in zip(sectors, read_sectors(sectors, read), strict=True):
        if sha256(data) != sector.sha256:
            what = f"sector 0x{sector.address:08X} reads back differently"
            raise N6Error(
                "N6-FLASH-004", what, where=where, hint="run scons flash again, which programs this sector again"
            )
