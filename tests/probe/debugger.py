"""A debugger for tests of the debug port, without a line to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from n6build.board.probe.access_port import CSW, DRW, TAR
from n6build.board.probe.debug_port import ABORT, CTRL_STAT, SELECT
from n6build.board.probe.processor import DCRDR, DCRSR, DHCSR
from patience import wait_until

POWER = 0x5000_0000
WORDS, NON_SECURE, CLEAR = 0x0300_0012, 1 << 30, 0x1E
KEY, DEBUGEN, HALT, STEP, MASKINTS = 0xA05F_0000, 1, 2, 4, 8
S_HALT, S_SLEEP, S_LOCKUP, S_RESET = 1 << 17, 1 << 18, 1 << 19, 1 << 25
SP, PC, XPSR = 13, 15, 16


class Port(Protocol):
    """A debug port, near or far."""

    def read_dp(self, register: int) -> int: ...
    def write_dp(self, register: int, value: int) -> None: ...
    def read_ap(self, register: int, count: int = 1) -> list[int]: ...
    def write_ap(self, register: int, values: Sequence[int]) -> None: ...


class Debugger:
    """A debugger at one access port."""

    def __init__(self, port: Port, ap: int = 1, secure: bool = True) -> None:
        self.port = port
        port.write_dp(ABORT, CLEAR)
        port.write_dp(SELECT, 0)
        port.write_dp(CTRL_STAT, POWER)
        self._select(ap)
        port.write_ap(CSW, [WORDS | (0 if secure else NON_SECURE)])

    def read(self, address: int, count: int = 1) -> list[int]:
        """Read words; raise Refused."""
        self.port.write_ap(TAR, [address])
        return self.port.read_ap(DRW, count)

    def word(self, address: int) -> int:
        return self.read(address)[0]

    def write(self, address: int, *words: int) -> None:
        """Write words; raise Refused."""
        self.port.write_ap(TAR, [address])
        self.port.write_ap(DRW, words)

    def load(self, address: int, data: bytes) -> None:
        """Write a program, padded to words."""
        data += bytes(-len(data) % 4)
        while data:
            # TAR wraps at 1 KB.
            here, data = data[: 1024 - address % 1024], data[1024 - address % 1024 :]
            self.write(address, *(int.from_bytes(here[i : i + 4], "little") for i in range(0, len(here), 4)))
            address += len(here)

    def clear(self) -> None:
        self.port.write_dp(ABORT, CLEAR)

    def control(self, bits: int) -> None:
        self.write(DHCSR, KEY | DEBUGEN | bits)

    def halt(self) -> None:
        self.control(HALT)

    def run(self) -> None:
        self.control(0)

    def step(self, bits: int = 0) -> None:
        self.control(STEP | bits)

    def status(self) -> int:
        return self.word(DHCSR)

    @property
    def is_halted(self) -> bool:
        return bool(self.status() & S_HALT)

    def wait(self) -> None:
        """Wait until the processor has halted."""
        self.wait_for(S_HALT)

    def wait_for(self, bit: int) -> None:
        """Wait until a bit of DHCSR is set, which may clear it."""
        wait_until(lambda: bool(self.status() & bit))

    def register(self, number: int) -> int:
        self.write(DCRSR, number)
        return self.word(DCRDR)

    def set_register(self, number: int, value: int) -> None:
        self.write(DCRDR, value)
        self.write(DCRSR, number | 1 << 16)

    def start(self, address: int, stack: int) -> None:
        self.set_register(XPSR, 0x0100_0000)
        self.set_register(SP, stack)
        self.set_register(PC, address)
        self.run()

    def _select(self, ap: int) -> None:
        self.port.write_dp(SELECT, ap << 24)
