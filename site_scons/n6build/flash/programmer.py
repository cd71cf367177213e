"""What stage 4 asks of a programmer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from n6build.flash.sectors import Sector


class Programmer(Protocol):
    """One attached board. `name` is how the user chose it, such as 'virtual' or a probe's serial number."""

    @property
    def name(self) -> str: ...

    @property
    def seconds_a_sector(self) -> float:
        """About how long a sector takes to erase, program and verify."""

    def record_path(self) -> Path:
        """Where the record of this board lies."""

    def still_holds(self) -> bool:
        """Whether the record can be trusted: False where the board's memory is known to be another one since."""

    def read(self, address: int, size: int) -> bytes:
        """What stands in flash, from an address in the memory-mapped window; raises N6Error where it cannot be read."""

    def program(self, sectors: Sequence[Sector]) -> None:
        """Erases, writes and verifies these sectors; raises N6Error where any of it fails."""

    def reset(self) -> None:
        """Starts what is in flash; raises N6Error where that fails."""
