"""The front for OpenOCD and its driver remote_bitbang.

A character is an edge of JTAG or SWD. Facts used, tried with OpenOCD 0.12.0 (its documentation,
drivers/remote_bitbang.txt): 0 to 7 set TCK, TMS and TDI (bits 2, 1, 0); R asks for TDO; d to g set SWCLK
and SWDIO (bits 1, 0); O and o let the debugger drive SWDIO, or not; c asks for SWDIO; r, s, t, u set
TRST and SRST (bits 1, 0); Q ends; B and b are a light.
"""

from __future__ import annotations

from n6build.board.probe.debug_port import VirtualDebugPort
from n6build.board.probe.swj_port import SwjPort

PORT = 3335
_RESETS = b"rstu"


class OpenocdFront:
    """A connection of OpenOCD."""

    def __init__(self, port: VirtualDebugPort) -> None:
        self.uses_board = self.is_done = False
        self._port = port
        self._pins = SwjPort(port)
        self._tck, self._tms, self._drives = 0, 0, True
        self._is_in_reset = False

    def answer(self, received: bytes, is_free: bool) -> bytes:
        """Return a character for each R and c."""
        if not self.uses_board and not is_free:
            self.is_done = True
            return b""
        self.uses_board = True
        answer, clock = bytearray(), self._pins.clock
        for byte in received:
            if 0x30 <= byte < 0x38:
                tck = byte & 4
                if tck and not self._tck:
                    # The debugger alone drives TMS.
                    clock(byte >> 1 & 1, byte & 1)
                self._tck, self._tms = tck, byte >> 1 & 1
            elif 0x64 <= byte < 0x68:  # d to g
                self._set(byte & 2, byte & 1)
            elif byte == 0x52:  # R
                answer.append(0x30 | self._pins.tdo)
            elif byte == 0x63:  # c
                answer.append(0x30 | self._swdio)
            elif byte in b"Oo":
                self._drives = byte == ord("O")
            elif byte in _RESETS:
                self._reset(bool(byte - ord("r") & 1))
            elif byte not in b"Bb":
                # Q, or no OpenOCD.
                self.is_done = True
                break
        return bytes(answer)

    @property
    def _swdio(self) -> int:
        """Return the level of SWDIO, which a resistor pulls up."""
        if self._drives:
            return self._tms
        chip = self._pins.swdio
        return 1 if chip is None else chip

    def _set(self, swclk: int, level: int) -> None:
        self._tms = level
        if swclk and not self._tck:
            self._pins.clock(self._swdio, 0)
        self._tck = swclk

    def _reset(self, asserted: bool) -> None:
        """Follow the reset pin of the chip; TRST of the port has no effect on it."""
        if self._is_in_reset and not asserted:
            self._port.reset_by_pin()
        self._is_in_reset = asserted
