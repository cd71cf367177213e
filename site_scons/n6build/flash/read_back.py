"""Verifies by reading: what is in flash against what was programmed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from n6build.base.errors import N6Error
from n6build.base.span import Span
from n6build.flash.sectors import Sector, bytes_of, runs_of

Read = Callable[[Sequence[Span]], list[bytes]]


def read_sectors(sectors: Sequence[Sector], read: Read) -> list[bytes]:
    """What the flash holds in place of these sectors; those that follow each other are read together."""
    runs = runs_of(sectors)
    found = read([Span(run[0].address, bytes_of(run)) for run in runs])
    contents = []
    for run, data in zip(runs, found, strict=True):
        start = 0
        for sector in run:
            contents.append(data[start : start + len(sector.data)])
            start += len(sector.data)
    return contents


def check_read_back(sectors: Sequence[Sector], read: Read, where: str) -> None:
    """read: of a programmer. Raises N6-FLASH-004 for the first sector that differs."""
    for sector, data in zip(sectors, read_sectors(sectors, read), strict=True):
        if data != sector.data:
            what = f"sector 0x{sector.address:08X} reads back differently"
            raise N6Error("N6-FLASH-004", what, where=where, hint="flash again: it will be programmed again")
