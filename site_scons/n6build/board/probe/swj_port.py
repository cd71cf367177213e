"""The port of the chip's debug pins (SWJ-DP of ADIv5): JTAG, or SWD on two of the same pins.

It starts with JTAG. A sequence on TMS, behind at least 50 ones, changes to SWD (0xE79E, lowest bit
first) or back (0xE73C).
"""

from __future__ import annotations

from n6build.board.probe.debug_port import VirtualDebugPort
from n6build.board.probe.jtag_tap import JtagTap
from n6build.board.probe.swd_wire import RESET_ONES, SwdWire

_BITS = 16
_MASK = (1 << RESET_ONES + _BITS) - 1


def _behind_ones(sequence: int) -> int:
    """Return the last levels of TMS, newest lowest, at the end of a sequence."""
    reversed_bits = int(f"{sequence:0{_BITS}b}"[::-1], 2)
    return _MASK >> _BITS << _BITS | reversed_bits


_TO_SWD, _TO_JTAG = _behind_ones(0xE79E), _behind_ones(0xE73C)


class SwjPort:
    """The debug pins."""

    def __init__(self, port: VirtualDebugPort) -> None:
        self._port = port
        self._tap = JtagTap(port)
        self._wire: SwdWire | None = None
        self._levels = 0

    @property
    def tdo(self) -> int:
        """Return the level of TDO, which SWD does not use."""
        return 0 if self._wire else self._tap.tdo

    @property
    def swdio(self) -> int | None:
        """Return the level that the chip drives on TMS, which SWD calls SWDIO, or None."""
        return self._wire.level if self._wire else None

    def clock(self, tms: int, tdi: int) -> None:
        """Give a rising edge of TCK.

        Args:
            tms: Level of TMS before the edge, whoever drives it.
            tdi: Level of TDI.
        """
        self._levels = (self._levels << 1 | tms) & _MASK
        if self._wire:
            self._wire.clock(tms)
            if self._levels == _TO_JTAG:
                self._tap, self._wire = JtagTap(self._port), None
        else:
            self._tap.clock(tms, tdi)
            if self._levels == _TO_SWD:
                self._wire = SwdWire(self._port)
