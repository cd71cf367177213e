"""The virtual board's NOR: a file as large as the part, erased to 0xFF, that the emulator boots from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from n6build.base.errors import N6Error
from n6build.base.intel_hex import ERASED
from n6build.base.span import Span
from n6build.flash.programmer import UNKNOWN, Identity
from n6build.flash.read_back import check_read_back
from n6build.flash.receipt import VIRTUAL, VIRTUAL_RECORD, nor_state
from n6build.flash.sectors import Sector

_CHUNK = 1 << 20


@dataclass(frozen=True)
class VirtualProgrammer:
    """folder: of this virtual board. base, size: of its NOR in bytes."""

    folder: Path
    base: int
    size: int
    name: str = VIRTUAL
    seconds_a_sector: float = 0.001

    @property
    def nor(self) -> Path:
        """The file that the emulator boots from."""
        return self.folder / "nor.bin"

    @property
    def record(self) -> Path:
        """Beside the NOR."""
        return self.folder / VIRTUAL_RECORD

    def still_holds(self) -> bool:
        """Whether the NOR's file exists and has the size of the part."""
        return self.nor.is_file() and self.nor.stat().st_size == self.size

    def memory_state(self) -> str:
        """That of the NOR's file."""
        return nor_state(self.nor)

    def identify(self) -> Identity:
        """Unknown: it is always the board that it was built for."""
        return UNKNOWN

    def read(self, spans: Sequence[Span]) -> list[bytes]:
        """Erased bytes where nothing was programmed yet. Raises N6-FLASH-003 where the file cannot be read."""
        if not self.still_holds():
            return [bytes([ERASED]) * span.size for span in spans]
        try:
            with self.nor.open("rb") as nor:
                return [_read(nor, span.address - self.base, span.size) for span in spans]
        except OSError as error:
            raise N6Error(
                "N6-FLASH-003", f"cannot read the virtual board: {error.strerror}", where=self.nor.name
            ) from error

    def program(self, sectors: Sequence[Sector]) -> None:
        """Raises N6-FLASH-003 where the file cannot be written."""
        try:
            if not self.still_holds():
                self._make_erased()
            with self.nor.open("r+b") as nor:
                for sector in sectors:
                    nor.seek(sector.address - self.base)
                    nor.write(sector.data)
        except OSError as error:
            raise N6Error(
                "N6-FLASH-003", f"cannot program the virtual board: {error.strerror}", where=self.nor.name
            ) from error

    def verify(self, sectors: Sequence[Sector]) -> None:
        """Raises N6-FLASH-004 where the file holds something else."""
        check_read_back(sectors, self.read, self.nor.name)

    def reset(self) -> None:
        """Does nothing: it is off until somebody runs it."""

    def _make_erased(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        blank = self.nor.with_suffix(".new")
        erased = bytes([ERASED]) * _CHUNK
        with blank.open("wb") as file:
            for _ in range(self.size // _CHUNK):
                file.write(erased)
        blank.replace(self.nor)


def _read(file: BinaryIO, offset: int, size: int) -> bytes:
    file.seek(offset)
    return file.read(size)
