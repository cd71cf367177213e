"""The debug port (ADIv5): its registers, and the way to the access ports."""

from __future__ import annotations

from collections.abc import Sequence

from n6build.board.probe.access_port import AccessPort, MemoryPort
from n6build.board.probe.machine import Machine, ProbeFault
from n6build.board.probe.processor import Processor
from n6build.describe.hardware.debug_port import DebugPort
from n6build.describe.hardware.soc import Soc

ABORT, CTRL_STAT, SELECT, RDBUFF = 0x0, 0x4, 0x8, 0xC
# Errors in CTRL/STAT, each with the bit of ABORT that clears it.
STICKY_OVERRUN, STICKY_ERROR, WRITE_PARITY = 1 << 1, 1 << 5, 1 << 7
_CLEARS = {1 << 4: STICKY_OVERRUN, 1 << 2: STICKY_ERROR, 1 << 3: WRITE_PARITY}
STICKY = STICKY_OVERRUN | STICKY_ERROR | WRITE_PARITY
_DETECTS_OVERRUNS = 1 << 0
_REQUESTS, _WRITABLE = 0x5400_0000, 0x54FF_FF0D
_TARGETID_BANK = 2
_MOST_TRANSFERS = 1 << 16


class Refused(Exception):
    """A transfer that the debug port answers with FAULT."""


class VirtualDebugPort:
    """The debug port of a chip.

    Attributes:
        refusals: Reasons of the access ports, oldest first, for the server's console.
        transfers: Number of transfers since power-on, each a word over the debug port.
    """

    def __init__(self, machine: Machine, port: DebugPort, soc: Soc) -> None:
        hwrsr = soc.peripherals["RCC"].registers["HWRSR"].fields["SFTRSTF"]
        dbgmcu = soc.peripherals["DBGMCU"]
        assert isinstance(hwrsr, int)
        assert dbgmcu.base is not None
        self.port = port
        self.refusals: list[str] = []
        self.transfers = 0
        self._processor = Processor(machine, port, 1 << hwrsr)
        self._access_ports: list[AccessPort] = [
            MemoryPort(number, machine, port, dbgmcu.base, self._processor if number else None)
            for number in range(len(port.access_ports))
        ]
        self._select = self._control = self._buffer = 0

    def read_dp(self, register: int) -> int:
        """Return a register of the debug port."""
        self.transfers += 1
        bank = self._select & 0xF
        if register == ABORT:
            return self.port.dpidr
        if register == CTRL_STAT:
            if bank == 0:
                # Power is there as soon as it is requested.
                return self._control | (self._control & _REQUESTS) << 1
            return self.port.targetid if bank == _TARGETID_BANK else 0
        return self._buffer if register == RDBUFF else 0

    def write_dp(self, register: int, value: int) -> None:
        """Write a register of the debug port."""
        self.transfers += 1
        if register == ABORT:
            for bit, error in _CLEARS.items():
                self._control &= ~(error if value & bit else 0)
        elif register == CTRL_STAT and not self._select & 0xF:
            # JTAG clears errors here: a one that is written clears.
            sticky = self._control & STICKY & ~value
            self._control = sticky | value & _WRITABLE
        elif register == SELECT:
            self._select = value

    def read_ap(self, register: int, count: int = 1) -> list[int]:
        """Read a register of the selected access port several times.

        Args:
            register: Address; SELECT has its upper digit.

        Raises:
            Refused: The transfer fails, and later ones until the error is cleared.
        """
        port = self._selected(count)
        if port is None:
            values = [0] * count
        else:
            try:
                values = port.read(self._select & 0xF0 | register & 0xC, count)
            except ProbeFault as fault:
                raise self._refuse(str(fault)) from fault
        self._buffer = values[-1]
        return values

    def write_ap(self, register: int, values: Sequence[int]) -> None:
        """Write a register of the selected access port several times; raise Refused."""
        port = self._selected(len(values))
        if port is not None:
            try:
                port.write(self._select & 0xF0 | register & 0xC, values)
            except ProbeFault as fault:
                raise self._refuse(str(fault)) from fault

    def reset_by_pin(self) -> None:
        """Reset the chip as its pin does."""
        self._processor.reset(0)

    @property
    def has_failed(self) -> bool:
        """Return whether an error waits to be cleared."""
        return bool(self._control & STICKY)

    @property
    def detects_overruns(self) -> bool:
        """Return ORUNDETECT: over SWD, a transfer that fails has data, too."""
        return bool(self._control & _DETECTS_OVERRUNS)

    def fail(self, error: int) -> None:
        """Set an error in CTRL/STAT."""
        self._control |= error

    def _selected(self, count: int) -> AccessPort | None:
        """Return the selected access port, or None where there is none."""
        self.transfers += count
        if self.has_failed:
            raise Refused("an error is not yet cleared")
        if not 1 <= count <= _MOST_TRANSFERS:
            raise self._refuse(f"size: {count} transfers at once")
        number = self._select >> 24
        return self._access_ports[number] if number < len(self._access_ports) else None

    def _refuse(self, why: str) -> Refused:
        self.fail(STICKY_ERROR)
        self.refusals.append(why)
        return Refused(why)
