"""What stage 4 asks of a programmer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from n6build.base.span import Span
from n6build.flash.sectors import Sector


@dataclass(frozen=True)
class Identity:
    """A board as its programmer sees it; what the programmer does not know is empty. board: what is printed on it. device_id:
    12 bits, of the chip (DBGMCU)."""

    board: str = ""
    device_id: int | None = None


UNKNOWN = Identity()


@dataclass(frozen=True)
class RamProgram:
    """address: of its vector table, with which `data` begins."""

    address: int
    data: bytes

    @property
    def stack_pointer(self) -> int:
        """Initial value, from the vector table."""
        return int.from_bytes(self.data[:4], "little")

    @property
    def entry(self) -> int:
        """Address of the reset handler, without the Thumb bit."""
        return int.from_bytes(self.data[4:8], "little") & ~1


class Programmer(Protocol):
    """One attached board."""

    @property
    def name(self) -> str:
        """As the user chose it, such as 'virtual' or a probe's serial number."""

    @property
    def seconds_a_sector(self) -> float:
        """About how long a sector takes to erase, program and verify."""

    @property
    def record(self) -> Path:
        """Path of the record of this board."""

    def still_holds(self) -> bool:
        """Whether the record can be trusted: False where the board's memory is known to have been replaced since."""

    def memory_state(self) -> str:
        """Another text whenever somebody else may have written to the board's memory, as far as that shows without asking the
        board; empty where it never does."""

    def identify(self) -> Identity:
        """Raises N6Error where no board answers."""

    def read(self, spans: Sequence[Span]) -> list[bytes]:
        """The content of each span. Raises N6Error where it cannot be read."""

    def program(self, sectors: Sequence[Sector]) -> None:
        """Erases and writes these sectors and no others. Raises N6Error where any of it fails."""

    def verify(self, sectors: Sequence[Sector]) -> None:
        """After `program`, in the way that suits this programmer best. Raises N6Error where the board holds something else."""

    def reset(self) -> None:
        """Starts what is in flash. Raises N6Error where that fails."""
