"""NOR of the virtual board: a file of the part's size, erased to 0xFF.

The emulator boots from this file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from n6build.base.errors import N6Error
from n6build.base.intel_hex import ERASED
from n6build.base.regular_file import open_regular
from n6build.base.span import Span
from n6build.board.flash.programmer import UNKNOWN, Identity
from n6build.board.flash.receipt import VIRTUAL, VIRTUAL_RECORD, nor_state
from n6build.board.flash.sectors import Sector
from n6build.board.flash.verify import check_read_back

_CHUNK = 1 << 20


@dataclass(frozen=True)
class VirtualProgrammer:
    """A `Programmer` of the virtual board.

    Attributes:
        folder: Folder of the virtual board.
        base: Address of its NOR.
        size: Size of its NOR in bytes.
        name: The name 'virtual'.
        seconds_a_sector: About how long a sector takes.
    """

    folder: Path
    base: int
    size: int
    name: str = VIRTUAL
    seconds_a_sector: float = 0.001

    @property
    def nor(self) -> Path:
        """Return the file that the emulator boots from."""
        return self.folder / "nor.bin"

    @property
    def record(self) -> Path:
        """Return the path of the record, beside the NOR."""
        return self.folder / VIRTUAL_RECORD

    def still_holds(self) -> bool:
        """Return true if the NOR's file exists and has the size of the part."""
        return self.nor.is_file() and self.nor.stat().st_size == self.size

    def memory_state(self) -> str:
        """Return the state of the NOR's file."""
        return nor_state(self.nor)

    def identify(self) -> Identity:
        """Return an unknown identity: it is always the board that it was built for."""
        return UNKNOWN

    def read(self, spans: Sequence[Span]) -> list[bytes]:
        """Return the content of each span, erased bytes if the file is missing.

        Raises:
            N6Error: N6-FLASH-003 if the file cannot be read.
        """
        if not self.still_holds():
            return [bytes([ERASED]) * span.size for span in spans]
        try:
            with open_regular(self.nor) as nor:
                return [_read(nor, span.address - self.base, span.size) for span in spans]
        except OSError as error:
            raise N6Error(
                "N6-FLASH-003", f"cannot read the virtual board: {error.strerror}", where=self.nor.name
            ) from error

    def program(self, sectors: Sequence[Sector]) -> None:
        """Write these sectors to the file.

        Raises:
            N6Error: N6-FLASH-003 if the file cannot be written.
        """
        try:
            if not self.still_holds():
                make_erased(self.nor, self.size)
            with self.nor.open("r+b") as nor:
                for sector in sectors:
                    nor.seek(sector.address - self.base)
                    nor.write(sector.data)
        except OSError as error:
            raise N6Error(
                "N6-FLASH-003", f"cannot program the virtual board: {error.strerror}", where=self.nor.name
            ) from error

    def verify(self, sectors: Sequence[Sector]) -> None:
        """Check that the file holds these sectors.

        Raises:
            N6Error: N6-FLASH-004 if the file differs.
        """
        check_read_back(sectors, self.read, self.nor.name)

    def reset(self) -> None:
        """Do nothing: the virtual board is off until a run starts it."""


def make_erased(nor: Path, size: int) -> None:
    """Write the file of an erased NOR, and its folder; raise OSError."""
    nor.parent.mkdir(parents=True, exist_ok=True)
    blank = nor.with_suffix(".new")
    erased = bytes([ERASED]) * _CHUNK
    with blank.open("wb") as file:
        for _ in range(size // _CHUNK):
            file.write(erased)
    blank.replace(nor)


def _read(file: BinaryIO, offset: int, size: int) -> bytes:
    file.seek(offset)
    return file.read(size)
