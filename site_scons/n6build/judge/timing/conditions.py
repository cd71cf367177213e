"""The clocks and rates at which a network runs: the board's, or hypothetical ones."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from n6build.base.errors import N6Error
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.soc import Clock

# The NOR has eight lines and PSRAM sixteen, with data on both edges of the clock. A single line has a bit a clock.
_OCTAL_BYTES, _PSRAM_BYTES, _SPI_BYTES = 2.0, 4.0, 0.125


@dataclass(frozen=True)
class Conditions:
    """The clocks and rates of a run.

    Attributes:
        name: Name of the conditions.
        cpu_hz: Clock of the CPU.
        npu_hz: Clock of the NPU.
        nor_hz: Clock of the NOR.
        nor_bytes: Bytes that the NOR moves in a clock.
        psram_hz: Clock of the PSRAM, 0 without PSRAM.
        notes: Reasons why the board cannot run so, or why that is unknown; empty if it can.
    """

    name: str
    cpu_hz: int
    npu_hz: int
    nor_hz: int
    nor_bytes: float = _OCTAL_BYTES
    psram_hz: int = 0
    notes: tuple[str, ...] = ()

    @property
    def npu_ghz(self) -> float:
        """Return the cycles of the NPU in a nanosecond."""
        return self.npu_hz / 1e9

    @property
    def cpu_ghz(self) -> float:
        """Return the cycles of the CPU in a nanosecond."""
        return self.cpu_hz / 1e9

    @property
    def nor_bytes_per_ns(self) -> float:
        """Return the rate of the NOR's line, without the time for commands and gaps."""
        return self.nor_hz * self.nor_bytes / 1e9

    @property
    def psram_bytes_per_ns(self) -> float:
        """Return the rate of the PSRAM's line; 0 without PSRAM."""
        return self.psram_hz * _PSRAM_BYTES / 1e9

    @property
    def text(self) -> str:
        """Return a text such as 'CPU 600 MHz, NPU 800 MHz, flash 100 MB/s'."""
        rate = self.nor_bytes_per_ns * 1e3
        return f"CPU {self.cpu_hz / 1e6:g} MHz, NPU {self.npu_hz / 1e6:g} MHz, flash {rate:g} MB/s"


def conditions_of(board: Board, clock: str = "", flash: str = "") -> Conditions:
    """Return the conditions in which a network runs.

    Args:
        board: The board.
        clock: A clock profile of the chip, even if this board cannot run it; empty for that of the
            board.
        flash: Clock of the NOR in MHz; empty for that of the board.

    Raises:
        N6Error: N6-BOARD-003 for an unknown profile; N6-TIME-003 for an invalid clock.
    """
    if clock and clock not in board.soc.clock_profiles:
        board.at_clock(clock)
    profile = board.soc.clock(clock) if clock else board.clock
    at = _of_clock(board, profile)
    if not board.can_run(profile.profile):
        note = f"{board.title} cannot raise the supply, which clock profile '{profile.name}' needs"
        at = replace(at, notes=(*at.notes, note))
    return _with_flash(board, at, flash) if flash else at


def _of_clock(board: Board, clock: Clock) -> Conditions:
    board = replace(board, clock=clock)
    a_clock = _SPI_BYTES if board.nor.mode == "spi" else _OCTAL_BYTES
    return Conditions(clock.name, clock.cpu_hz, clock.npu_hz, board.nor_clock_hz, a_clock, board.psram_clock_hz)


def _with_flash(board: Board, at: Conditions, flash: str) -> Conditions:
    if not re.fullmatch(r"\d{1,4}", flash, re.ASCII) or not int(flash):
        what = f"'flash={flash[:40]}' is not a clock of the NOR in MHz"
        raise N6Error("N6-TIME-003", what, hint="write for example flash=50 or flash=200")
    asked = int(flash) * 1_000_000
    notes = at.notes
    if asked > board.nor_clock_hz:
        limit = board.nor_clock_hz / 1e6
        notes += (f"the NOR of {board.title} runs at {limit:g} MHz as the board is described, not at {flash} MHz",)
    return replace(at, name=f"{at.name}, flash {flash} MHz", nor_hz=asked, notes=notes)


def all_conditions(board: Board) -> tuple[Conditions, ...]:
    """Return the conditions of each clock profile that the board can run.

    The board's own profile comes first.
    """
    own = conditions_of(board)
    others = (conditions_of(board, name) for name in board.soc.clock_profiles if name != board.clock.name)
    return own, *(each for each in others if not each.notes)
