"""The debug pins of the chip (SWJ-DP of ADIv5): JTAG, or SWD on two.

It starts with JTAG. A sequence on TMS, behind at least 50 ones, changes to SWD (0xE79E, lowest bit
first) or back (0xE73C).
"""

from __future__ import annotations

from n6build.board.probe.debug_port import VirtualDebugPort
from n6build.board.probe.jtag_tap import JtagTap
from n6build.board.probe.swd_wire import RESET_ONES, SwdWire

_BITS = 16
_TO_SWD, _TO_JTAG = 0xE79E, 0xE73C
# Ones at most that bring a TAP to its reset; only those behind them are counted.
_RESETS_TAP = 5


class SwjPort:
    """The debug pins."""

    def __init__(self, port: VirtualDebugPort) -> None:
        self._port = port
        self._tap = JtagTap(port)
        self._wire: SwdWire | None = None
        self._ones = 0
        # Levels behind the ones, and how many of them are still to come.
        self._sequence = self._left = 0

    @property
    def tdo(self) -> int:
        """Return the level of TDO, which SWD does not use."""
        return 0 if self._wire else self._tap.tdo

    @property
    def swdio(self) -> int | None:
        """Return the level that the chip drives on TMS (SWDIO), or None."""
        return self._wire.level if self._wire else None

    def clock(self, tms: int, tdi: int) -> None:
        """Give a rising edge of TCK.

        Args:
            tms: Level of TMS before the edge, whoever drives it.
            tdi: Level of TDI.
        """
        if self._wire:
            self._wire.clock(tms)
            self._watch(tms)
        elif self._tap.clock(tms, tdi) or self._left:
            # So many ones leave the TAP in reset. Elsewhere there is nothing to watch, which keeps scans fast.
            self._watch(tms)

    def _watch(self, tms: int) -> None:
        """Follow the sequences that change between JTAG and SWD."""
        if self._left:
            self._left -= 1
            self._sequence |= tms << _BITS - 1 - self._left
            if not self._left:
                self._change()
        elif not tms and self._ones >= RESET_ONES - (0 if self._wire else _RESETS_TAP):
            # Both begin with a zero.
            self._sequence, self._left = 0, _BITS - 1
        self._ones = self._ones + 1 if tms else 0

    def _change(self) -> None:
        if self._wire is None and self._sequence == _TO_SWD:
            self._wire = SwdWire(self._port)
        elif self._wire and self._sequence == _TO_JTAG:
            self._tap, self._wire = JtagTap(self._port), None
