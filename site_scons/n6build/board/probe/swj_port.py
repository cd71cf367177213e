"""The debug pins of the chip (SWJ-DP of ADIv5): JTAG, or SWD on two.

It starts with JTAG. A sequence on TMS, behind at least 50 ones, changes to SWD (0xE79E, lowest bit
first) or back (0xE73C).
"""

from __future__ import annotations

from collections.abc import Callable

from n6build.board.probe.debug_port import (
    ABORT,
    CTRL_STAT,
    RDBUFF,
    SELECT,
    STICKY,
    STICKY_OVERRUN,
    WRITE_PARITY,
    Refused,
    VirtualDebugPort,
)

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


RESET_ONES = 50
_REQUEST_BITS, _DATA_BITS, _ACK_BITS = 8, 33, 3
_START_PARK, _STOP = 0x81, 1 << 6
_AP, _READ, _PARITY = 1 << 1, 1 << 2, 1 << 5
_OK, _FAULT = 0b001, 0b100
_RESEND = SELECT


class SwdWire:
    """The debug port's end of SWDIO.

    Attributes:
        level: Level that the debug port drives, or None.
    """

    def __init__(self, port: VirtualDebugPort) -> None:
        self.level: int | None = None
        self._port = port
        self._phase: Callable[[int], None] = self._locked
        self._shift, self._bits, self._ones = 0, 0, 0
        # Only DPIDR can be read behind a line reset.
        self._is_new = True
        self._posted = self._resent = 0
        self._writes: tuple[bool, int] | None = None

    def clock(self, level: int) -> None:
        """Give a rising edge of SWCLK.

        Args:
            level: Level of SWDIO before the edge.
        """
        self._ones = self._ones + 1 if level else 0
        if self._ones >= RESET_ONES:
            self.level, self._is_new, self._phase = None, True, self._waits_for_zero
        else:
            self._phase(level)

    def _locked(self, level: int) -> None:
        """Ignore the wire until a line reset, as after a wrong request."""

    def _waits_for_zero(self, level: int) -> None:
        if not level:
            self._phase = self._idle

    def _idle(self, level: int) -> None:
        if level:
            self._shift, self._bits, self._phase = 1, 1, self._request

    def _request(self, level: int) -> None:
        self._collect(level)
        if self._bits < _REQUEST_BITS:
            return
        request = self._shift
        parity = (request & 0x1E).bit_count() & 1
        register = request >> 1 & 0xC
        is_identification = request & _READ and not request & _AP and register == ABORT
        is_right = request & (_START_PARK | _STOP) == _START_PARK and parity == bool(request & _PARITY)
        if not is_right or (self._is_new and not is_identification):
            self._phase = self._locked
            return
        self._is_new = False
        self._begin(bool(request & _AP), bool(request & _READ), register)
        self._phase = self._answer

    def _begin(self, is_ap: bool, reads: bool, register: int) -> None:
        """Prepare the answer to a request; the lowest bit is sent first."""
        port = self._port
        works_always = not is_ap and register in ((ABORT, CTRL_STAT) if reads else (ABORT,))
        is_ok = works_always or not port.has_failed
        self._writes = None
        self._shift, self._bits = _OK if is_ok else _FAULT, _ACK_BITS
        if not is_ok:
            if not port.detects_overruns:
                return
            port.fail(STICKY_OVERRUN)
        if reads:
            value = self._read(is_ap, register) if is_ok else 0
            self._shift |= (value | (value.bit_count() & 1) << 32) << _ACK_BITS
            self._bits += _DATA_BITS
        else:
            self._writes = is_ap and is_ok, register if is_ok else RDBUFF

    def _read(self, is_ap: bool, register: int) -> int:
        """Return what a read sends: an access port's value comes with the next one."""
        if is_ap:
            self._resent = self._posted
            try:
                self._posted = self._port.read_ap(register)[0]
            except Refused:
                self._posted = 0
        elif register == RDBUFF:
            self._resent = self._posted
        elif register != _RESEND:
            return self._port.read_dp(register)
        return self._resent

    def _answer(self, _: int) -> None:
        if self._bits:
            self.level = self._shift & 1
            self._shift >>= 1
            self._bits -= 1
        else:
            self.level, self._phase = None, self._turn

    def _turn(self, _: int) -> None:
        """Let the debugger drive the wire again."""
        self._shift = self._bits = 0
        self._phase = self._idle if self._writes is None else self._data

    def _data(self, level: int) -> None:
        self._collect(level)
        if self._bits < _DATA_BITS:
            return
        self._phase = self._idle
        assert self._writes is not None
        is_ap, register = self._writes
        value, parity = self._shift & 0xFFFF_FFFF, self._shift >> 32
        if parity != value.bit_count() & 1:
            self._port.fail(WRITE_PARITY)
        elif is_ap:
            try:
                self._port.write_ap(register, [value])
            except Refused:
                # The next transfer shows it.
                return
        elif register != RDBUFF:
            # Only ABORT clears errors over SWD.
            self._port.write_dp(register, value & ~STICKY if register == CTRL_STAT else value)

    def _collect(self, level: int) -> None:
        self._shift |= level << self._bits
        self._bits += 1


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
