"""At what clocks and rates a network runs: a board's, or others that somebody asks about."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from n6build.base.errors import N6Error
from n6build.hardware.board import Board
from n6build.hardware.soc import Clock

# Both edges of the clock on eight lines; of PSRAM on sixteen. On one line, a bit a clock.
_OCTAL_BYTES, _PSRAM_BYTES, _SPI_BYTES = 2.0, 4.0, 0.125


@dataclass(frozen=True)
class Conditions:
    """cpu_hz, npu_hz, nor_hz, psram_hz: clocks; psram_hz is 0 without PSRAM. nor_bytes: that the NOR moves in a clock. notes: why
    the board cannot run so, or nobody knows whether it does; empty where it can."""

    name: str
    cpu_hz: int
    npu_hz: int
    nor_hz: int
    nor_bytes: float = _OCTAL_BYTES
    psram_hz: int = 0
    notes: tuple[str, ...] = ()

    @property
    def npu_ghz(self) -> float:
        """Cycles of the NPU in a nanosecond."""
        return self.npu_hz / 1e9

    @property
    def cpu_ghz(self) -> float:
        """Cycles of the CPU in a nanosecond."""
        return self.cpu_hz / 1e9

    @property
    def nor_bytes_per_ns(self) -> float:
        """Of the line, without what commands and gaps take."""
        return self.nor_hz * self.nor_bytes / 1e9

    @property
    def psram_bytes_per_ns(self) -> float:
        """As that of the NOR; 0 without PSRAM."""
        return self.psram_hz * _PSRAM_BYTES / 1e9

    @property
    def text(self) -> str:
        """'CPU 600 MHz, NPU 800 MHz, flash 100 MB/s'."""
        rate = self.nor_bytes_per_ns * 1e3
        return f"CPU {self.cpu_hz / 1e6:g} MHz, NPU {self.npu_hz / 1e6:g} MHz, flash {rate:g} MB/s"


def conditions_of(board: Board, clock: str = "", flash: str = "") -> Conditions:
    """Return what a network runs at.

    Args:
        board: Where it runs.
        clock: A clock profile of the chip, whether this board can run it or not; empty for that of the board.
        flash: Clock of the NOR in MHz; empty for that of the board.

    Raises:
        N6Error: N6-BOARD-003 for an unknown profile, N6-TIME-003 for a clock that is none.
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
        raise N6Error("N6-TIME-003", what, hint="such as flash=50 or flash=200")
    asked = int(flash) * 1_000_000
    notes = at.notes
    if asked > board.nor_clock_hz:
        limit = board.nor_clock_hz / 1e6
        notes += (f"the NOR of {board.title} runs at {limit:g} MHz as the board is described, not at {flash} MHz",)
    return replace(at, name=f"{at.name}, flash {flash} MHz", nor_hz=asked, notes=notes)


def all_conditions(board: Board) -> tuple[Conditions, ...]:
    """One for each clock profile that the board can run, the board's own first."""
    own = conditions_of(board)
    others = (conditions_of(board, name) for name in board.soc.clock_profiles if name != board.clock.name)
    return own, *(each for each in others if not each.notes)
