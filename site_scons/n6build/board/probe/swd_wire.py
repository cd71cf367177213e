"""The SWD port of the chip (SW-DP of ADIv5), by edges of its clock."""

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
