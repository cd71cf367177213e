"""Byte by byte comparison of a board's flash with the expected bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.base.files import sha256
from n6build.base.size_text import counted
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


# Most lines about single sectors; the error has the sum of all.
_LINES = 16


@dataclass(frozen=True)
class Part:
    """Expected bytes of a slot.

    Attributes:
        name: Name of the slot.
        address: Address in the memory-mapped window.
        data: Expected bytes.
    """

    name: str
    address: int
    data: bytes


@dataclass(frozen=True)
class Difference:
    """A sector that differs.

    Attributes:
        name: Name of the slot.
        address: Address of the sector.
        size: Number of compared bytes.
        wrong: Number of bytes that differ.
        first: Address of the first byte that differs.
        held: Value of that byte on the board.
        wanted: Expected value of that byte.
    """

    name: str
    address: int
    size: int
    wrong: int
    first: int
    held: int
    wanted: int

    def __str__(self) -> str:
        many = "1 byte" if self.wrong == 1 else f"{self.wrong:,} of {self.size:,} bytes"
        first = f"0x{self.first:08X} is 0x{self.held:02X}, not 0x{self.wanted:02X}"
        return f"0x{self.address:08X} in slot {self.name}: {many}, {first}"


def compared(parts: Sequence[Part], sector: int, read: Read) -> tuple[int, list[Difference]]:
    """Return the number of compared sectors, and the sectors that differ.

    Args:
        parts: Expected bytes.
        sector: Size of a sector in bytes.
        read: Read function of a programmer; it reads only the bytes of the parts.
    """
    found = read([Span(part.address, len(part.data)) for part in parts])
    sectors, different = 0, []
    for part, held in zip(parts, found, strict=True):
        for start, end in _pieces(part, sector):
            sectors += 1
            if held[start:end] != part.data[start:end]:
                different.append(_difference(part, held, start, end, sector))
    return sectors, different


def _pieces(part: Part, sector: int) -> Iterator[tuple[int, int]]:
    """Yield first byte and end of each sector's share in the part."""
    start = 0
    while start < len(part.data):
        end = min(len(part.data), start + sector - (part.address + start) % sector)
        yield start, end
        start = end


def _difference(part: Part, held: bytes, start: int, end: int, sector: int) -> Difference:
    wrong = [number for number in range(start, end) if held[number] != part.data[number]]
    first = wrong[0]
    address = (part.address + start) // sector * sector
    return Difference(part.name, address, end - start, len(wrong), part.address + first, held[first], part.data[first])


def raise_if_different(different: Sequence[Difference], sectors: int, board: str) -> None:
    """Print the sectors that differ, and raise an error for them.

    Args:
        different: Sectors that differ.
        sectors: Number of compared sectors.
        board: Name of the board, for the error.

    Raises:
        N6Error: N6-FLASH-024 if any sector differs.
    """
    if not different:
        return
    for each in different[:_LINES]:
        say("Differs", str(each))
    if len(different) > _LINES:
        say("Differs", f"{counted(len(different) - _LINES, 'sector')} more")
    wrong = sum(each.wrong for each in different)
    slots = ", ".join(dict.fromkeys(each.name for each in different))
    size = "1 byte" if wrong == 1 else f"{wrong:,} bytes in all"
    what = f"{len(different)} of {counted(sectors, 'sector')} differ from the flash manifest, {size}, slot {slots}"
    raise N6Error("N6-FLASH-024", what, where=board, hint="run scons flash, which programs these sectors again")
