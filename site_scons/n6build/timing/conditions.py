"""At what clocks and rates a network runs: a board's, or others that somebody asks about."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from n6build.base.errors import N6Error
from n6build.hardware.board import Board
from n6build.hardware.soc import Clock

# Both edges of the clock on eight lines; of PSRAM on sixteen. On one line, a bit a clock.
_OCTAL_BYTES, _PSRAM_BYTES, _SPI_BYTES = 2.0, 4.0, 0.125
_MOST_MHZ = 10_000


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
    """clock: a clock profile, or CPU/NPU in MHz such as 600/800; empty for the board's. flash: clock of the NOR in MHz; empty for
    the board's. Raises N6-TIME-003 for what is neither."""
    profile = board.soc.clock(clock) if clock in board.soc.clock_profiles else board.clock
    at = _of_clock(board, profile)
    if clock and clock not in board.soc.clock_profiles:
        cpu, npu = _megahertz(clock)
        at = replace(at, name=clock, cpu_hz=cpu * 1_000_000, npu_hz=npu * 1_000_000, notes=_beyond(board, cpu, npu))
    elif not _can_run(board, profile):
        note = f"{board.title} cannot raise the supply, which clock profile '{profile.name}' needs"
        at = replace(at, notes=(*at.notes, note))
    return _with_flash(board, at, flash) if flash else at


def _can_run(board: Board, clock: Clock) -> bool:
    return board.smps_overdrive is not None or not clock.profile.overdrive


def _of_clock(board: Board, clock: Clock) -> Conditions:
    board = replace(board, clock=clock)
    psram = clock.hclk_hz // board.psram_divider(board.psram) if board.psram else 0
    a_clock = _SPI_BYTES if board.nor.mode == "spi" else _OCTAL_BYTES
    return Conditions(clock.name, clock.cpu_hz, clock.npu_hz, board.nor_clock_hz, a_clock, psram)


def _megahertz(clock: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{1,5})/(\d{1,5})", clock, re.ASCII)
    found = (int(match[1]), int(match[2])) if match else (0, 0)
    if not all(0 < each <= _MOST_MHZ for each in found):
        what = f"'clock={clock[:40]}' is neither a clock profile nor the clocks of CPU and NPU in MHz"
        raise N6Error("N6-TIME-003", what, hint="such as clock=600/800, or a profile of the chip")
    return found


def _beyond(board: Board, cpu: int, npu: int) -> tuple[str, ...]:
    """Why a board cannot have these clocks: the fastest that a profile gives it are what it is known to stand."""
    clocks = [clock for clock in map(board.soc.clock, board.soc.clock_profiles) if _can_run(board, clock)]
    fastest = (max(clock.cpu_hz for clock in clocks), max(clock.npu_hz for clock in clocks))
    return tuple(
        f"no clock profile of {board.title} runs its {what} at {asked} MHz, {hz / 1e6:g} MHz is the most"
        for what, asked, hz in (("CPU", cpu, fastest[0]), ("NPU", npu, fastest[1]))
        if asked * 1_000_000 > hz
    )


def _with_flash(board: Board, at: Conditions, flash: str) -> Conditions:
    if not re.fullmatch(r"\d{1,4}", flash, re.ASCII) or not int(flash):
        what = f"'flash={flash[:40]}' is not a clock of the NOR in MHz"
        raise N6Error("N6-TIME-003", what, hint="such as flash=50 or flash=200")
    asked = int(flash) * 1_000_000
    notes = at.notes
    if asked > board.nor.max_clock_hz:
        limit = board.nor.max_clock_hz / 1e6
        notes += (f"the NOR of {board.title} runs at {limit:g} MHz as the board is described, not at {flash} MHz",)
    return replace(at, name=f"{at.name}, flash {flash} MHz", nor_hz=asked, notes=notes)


def all_conditions(board: Board) -> tuple[Conditions, ...]:
    """One for each clock profile that the board can run, the board's own first."""
    own = conditions_of(board)
    others = (conditions_of(board, name) for name in board.soc.clock_profiles if name != board.clock.name)
    return own, *(each for each in others if not each.notes)
