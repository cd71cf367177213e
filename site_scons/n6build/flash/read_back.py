"""Verifying by reading: what stands in flash against what was programmed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from n6build.errors import N6Error
from n6build.flash.programmer import Span
from n6build.flash.sectors import Sector


def check_read_back(sectors: Sequence[Sector], read: Callable[[Sequence[Span]], list[bytes]], where: str) -> None:
    """read: of a programmer. Raises N6-FLASH-004 for the first sector that differs."""
    found = read([Span(sector.address, len(sector.data)) for sector in sectors])
    for sector, data in zip(sectors, found, strict=True):
        if data != sector.data:
            what = f"sector 0x{sector.address:08X} reads back differently"
            raise N6Error("N6-FLASH-004", what, where=where, hint="flash again: it is programmed anew")
