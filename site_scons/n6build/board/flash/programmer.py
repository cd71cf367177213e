"""Interface of a programmer, for stage 4."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from n6build.base.span import Span
from n6build.board.flash.sectors import Sector


@dataclass(frozen=True)
class Identity:
    """A board as its programmer sees it; unknown fields are empty.

    Attributes:
        board: Name that is printed on the board.
        device_id: 12 bits of the chip (DBGMCU).
    """

    board: str = ""
    device_id: int | None = None


UNKNOWN = Identity()


@dataclass(frozen=True)
class RamProgram:
    """A program for RAM.

    Attributes:
        address: Address of the vector table, with which the data begins.
        data: Bytes of the program.
    """

    address: int
    data: bytes

    @property
    def stack_pointer(self) -> int:
        """Return the initial stack pointer from the vector table."""
        return int.from_bytes(self.data[:4], "little")

    @property
    def entry(self) -> int:
        """Return the address of the reset handler, without the Thumb bit."""
        return int.from_bytes(self.data[4:8], "little") & ~1


class Programmer(Protocol):
    """One attached board."""

    @property
    def name(self) -> str:
        """Return the user's name of it, such as 'virtual' or a probe's serial number."""

    @property
    def seconds_a_sector(self) -> float:
        """Return about how long a sector takes to erase, program and verify."""

    @property
    def record(self) -> Path:
        """Return the path of the board's record."""

    def still_holds(self) -> bool:
        """Return false if the board's memory is known to have been replaced.

        The record can be trusted only if the result is true.
        """

    def memory_state(self) -> str:
        """Return a text that changes when another program may have written to memory.

        It needs no access to the board. It is empty if such a change can never be seen.
        """

    def identify(self) -> Identity:
        """Return the identity of the board.

        Raises:
            N6Error: If no board answers.
        """

    def read(self, spans: Sequence[Span]) -> list[bytes]:
        """Return the content of each span.

        Raises:
            N6Error: If a span cannot be read.
        """

    def program(self, sectors: Sequence[Sector]) -> None:
        """Erase and write these sectors and no others.

        Raises:
            N6Error: If any of it fails.
        """

    def verify(self, sectors: Sequence[Sector]) -> None:
        """Verify programmed sectors in the best way for this programmer.

        Raises:
            N6Error: If the board holds other bytes.
        """

    def reset(self) -> None:
        """Start the programs in flash.

        Raises:
            N6Error: If that fails.
        """
