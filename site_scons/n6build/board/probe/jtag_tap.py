"""The JTAG port of the chip (JTAG-DP of ADIv5), by edges of its clock."""

from __future__ import annotations

from n6build.board.probe.debug_port import ABORT, RDBUFF, Refused, VirtualDebugPort

# State -> the next one for TMS 0 and 1, IEEE 1149.1. Indices into _NEXT.
(
    _RESET, _IDLE,
    _DR_SELECT, _DR_CAPTURE, _DR_SHIFT, _DR_EXIT1, _DR_PAUSE, _DR_EXIT2, _DR_UPDATE,
    _IR_SELECT, _IR_CAPTURE, _IR_SHIFT, _IR_EXIT1, _IR_PAUSE, _IR_EXIT2, _IR_UPDATE,
) = range(16)  # fmt: skip
_NEXT = (
    (_IDLE, _RESET), (_IDLE, _DR_SELECT),
    (_DR_CAPTURE, _IR_SELECT), (_DR_SHIFT, _DR_EXIT1), (_DR_SHIFT, _DR_EXIT1), (_DR_PAUSE, _DR_UPDATE), (_DR_PAUSE, _DR_EXIT2),
    (_DR_SHIFT, _DR_UPDATE), (_IDLE, _DR_SELECT),
    (_IR_CAPTURE, _RESET), (_IR_SHIFT, _IR_EXIT1), (_IR_SHIFT, _IR_EXIT1), (_IR_PAUSE, _IR_UPDATE), (_IR_PAUSE, _IR_EXIT2),
    (_IR_SHIFT, _IR_UPDATE), (_IDLE, _DR_SELECT),
)  # fmt: skip
_IR_BITS, _IR_CAPTURED = 4, 1
_ABORT, _DPACC, _APACC, _IDCODE = 0x8, 0xA, 0xB, 0xE
_SCAN_BITS, _IDCODE_BITS = 35, 32
_ACKNOWLEDGED = 0b010


class JtagTap:
    """The TAP of the debug port.

    Attributes:
        tdo: Level of TDO.
    """

    def __init__(self, port: VirtualDebugPort) -> None:
        self._port = port
        self._state, self._ir = _RESET, _IDCODE
        self._shift, self._bits = 0, 0
        self._last = 0

    @property
    def tdo(self) -> int:
        """Return the level of TDO."""
        return self._shift & 1

    def clock(self, tms: int, tdi: int) -> bool:
        """Give a rising edge of TCK; return whether the TAP was in its reset."""
        before = self._state
        if before in (_DR_SHIFT, _IR_SHIFT):
            self._shift = self._shift >> 1 | tdi << self._bits - 1
        self._state = state = _NEXT[before][tms]
        if state == _RESET:
            self._ir = _IDCODE
        elif state == _IR_CAPTURE:
            self._shift, self._bits = _IR_CAPTURED, _IR_BITS
        elif state == _DR_CAPTURE:
            self._shift, self._bits = self._captured()
        elif state == _IR_UPDATE:
            self._ir = self._shift
        elif state == _DR_UPDATE:
            self._transfer(self._shift >> 3, self._shift << 1 & 0xC, bool(self._shift & 1))
        return before == _RESET

    def _captured(self) -> tuple[int, int]:
        if self._ir == _IDCODE:
            return self._port.port.idcode, _IDCODE_BITS
        if self._ir in (_ABORT, _DPACC, _APACC):
            return self._last << 3 | _ACKNOWLEDGED, _SCAN_BITS
        return 0, 1

    def _transfer(self, value: int, register: int, reads: bool) -> None:
        """Carry out a scan.

        The next one returns what it read. An error is seen in CTRL/STAT.
        """
        try:
            if self._ir == _ABORT:
                self._port.write_dp(ABORT, value)
            elif self._ir == _DPACC:
                self._dp(value, register, reads)
            elif self._ir == _APACC and reads:
                self._last = self._port.read_ap(register)[0]
            elif self._ir == _APACC:
                self._port.write_ap(register, [value])
        except Refused:
            self._last = 0

    def _dp(self, value: int, register: int, reads: bool) -> None:
        if not reads and register not in (ABORT, RDBUFF):
            self._port.write_dp(register, value)
        elif reads and register != RDBUFF:
            # RDBUFF keeps the value that the scan before read.
            self._last = self._port.read_dp(register)
