"""The front for OpenOCD and its driver remote_bitbang.

A character is an edge of JTAG. Facts used, tried with OpenOCD 0.12.0 (its documentation,
drivers/remote_bitbang.txt): 0 to 7 set TCK, TMS and TDI (bits 2, 1, 0); R asks for TDO; r, s, t, u set
TRST and SRST (bits 1, 0); Q ends; B and b are a light.
"""

from __future__ import annotations

from n6build.board.probe.debug_port import VirtualDebugPort
from n6build.board.probe.jtag_tap import JtagTap

PORT = 3335
_LEVELS, _RESETS = b"01234567", b"rstu"


class OpenocdFront:
    """A connection of OpenOCD."""

    def __init__(self, port: VirtualDebugPort) -> None:
        self.uses_board = self.is_done = False
        self._port = port
        self._tap = JtagTap(port)
        self._tck = 0
        self._is_in_reset = False

    def answer(self, received: bytes, is_free: bool) -> bytes:
        """Return a character for each R."""
        if not self.uses_board and not is_free:
            self.is_done = True
            return b""
        self.uses_board = True
        answer = bytearray()
        for byte in received:
            if 0x30 <= byte < 0x38:
                tck = byte & 4
                if tck and not self._tck:
                    self._tap.clock(byte >> 1 & 1, byte & 1)
                self._tck = tck
            elif byte == 0x52:  # R
                answer.append(0x30 | self._tap.tdo)
            elif byte in _RESETS:
                self._reset(bool(byte - ord("r") & 1))
            elif byte not in b"Bb":
                # Q, or no OpenOCD.
                self.is_done = True
                break
        return bytes(answer)

    def _reset(self, asserted: bool) -> None:
        """Follow the reset pin of the chip; TRST of the port has no effect on it."""
        if self._is_in_reset and not asserted:
            self._port.reset_by_pin()
        self._is_in_reset = asserted
