"""The memory access ports (ADIv5): AP0 on the bus, AP1 at the processor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from n6build.board.probe.machine import MOST_BYTES, Machine, ProbeFault
from n6build.board.probe.processor import AP1, Processor
from n6build.board.probe.rom_table import PAGE
from n6build.describe.hardware.debug_port import DebugPort

CSW, TAR, DRW, BD0, BASE, IDR = 0x00, 0x04, 0x0C, 0x10, 0xF8, 0xFC
_SIZE, _INCREMENT, _DEVICE_ENABLED, _SECURE_ALLOWED, _NON_SECURE = 0x7, 0x30, 1 << 6, 1 << 23, 1 << 30
_WRITABLE = 0x7F00_0030
_RESET_CSW = 0x0300_0002
_LARGEST_SIZE = 2
_OWN, _OWN_END = 0xE000_0000, 0xE010_0000


class AccessPort(Protocol):
    """An access port, by registers."""

    def read(self, register: int, count: int) -> list[int]:
        """Read a register several times; raise ProbeFault."""

    def write(self, register: int, values: Sequence[int]) -> None:
        """Write a register several times; raise ProbeFault."""


class MemoryPort:
    """A memory access port.

    Args:
        dbgmcu: Address of DBGMCU.
        processor: Processor behind AP1; None for AP0.
    """

    def __init__(
        self, number: int, machine: Machine, port: DebugPort, dbgmcu: int, processor: Processor | None
    ) -> None:
        self._number = number
        self._machine = machine
        self._port = port
        self._processor = processor
        self._dbgmcu = dbgmcu
        self._csw, self._tar = _RESET_CSW, 0

    def read(self, register: int, count: int) -> list[int]:
        """Read a register several times; raise ProbeFault."""
        facts = self._port.access_ports[self._number]
        if register == DRW:
            return self._move(None, count)
        if BD0 <= register < BD0 + 16:
            address = self._tar & ~0xF | register & 0xC
            return [self._words(address, 4, None, 1)[0] for _ in range(count)]
        enabled = (_DEVICE_ENABLED if self._is_open() else 0) | _SECURE_ALLOWED
        known = {CSW: self._csw | enabled, TAR: self._tar, BASE: facts.rom_table, IDR: facts.idr}
        return [known.get(register, 0)] * count

    def write(self, register: int, values: Sequence[int]) -> None:
        """Write a register several times; raise ProbeFault."""
        if register == DRW:
            self._move(values, len(values))
        elif BD0 <= register < BD0 + 16:
            for value in values:
                self._words(self._tar & ~0xF | register & 0xC, 4, [value], 1)
        elif register == CSW:
            self._csw = values[-1] & _WRITABLE | min(values[-1] & _SIZE, _LARGEST_SIZE)
        elif register == TAR:
            self._tar = values[-1]

    def _move(self, values: Sequence[int] | None, count: int) -> list[int]:
        """Access the words of DRW, each in its lanes of bytes, and let TAR follow."""
        size, increments = 1 << (self._csw & _SIZE), bool(self._csw & _INCREMENT)
        page = 1 << self._port.increment_bits
        found: list[int] = []
        while len(found) < count:
            # TAR wraps at the end of a page.
            most = min((page - self._tar % page) // size, MOST_BYTES // size) if increments else 1
            here = max(min(count - len(found), most), 1)
            lanes = [8 * (self._tar + i * size & 3) for i in range(here)]
            mask = (1 << 8 * size) - 1
            given = None
            if values is not None:
                part = values[len(found) :]
                given = [value >> lane & mask for value, lane in zip(part, lanes, strict=False)]
            words = self._words(self._tar, size, given, here)
            found += [word << lane for word, lane in zip(words, lanes, strict=True)]
            if increments:
                self._tar = self._tar & ~(page - 1) | (self._tar + here * size) & (page - 1)
        return found

    def _words(self, address: int, size: int, values: list[int] | None, count: int) -> list[int]:
        """Read elements, or write values."""
        if address % size:
            raise ProbeFault(f"size: 0x{address:08X} is no multiple of {size}")
        if self._processor and _OWN <= address < _OWN_END:
            if not self._is_open():
                raise ProbeFault("closed: AP1 is closed (DBGMCU SR): development boot opens it")
            return [
                self._own(self._processor, address + i * size, size, None if values is None else values[i])
                for i in range(count)
            ]
        secure = not self._csw & _NON_SECURE
        address = self._address_of(address)
        if values is not None:
            data = b"".join(value.to_bytes(size, "little") for value in values)
            self._machine.write(self._number, secure, address, size, data)
            return values
        data = self._machine.read(self._number, secure, address, size, count)
        return [int.from_bytes(data[i : i + size], "little") for i in range(0, len(data), size)]

    def _own(self, processor: Processor, address: int, size: int, value: int | None) -> int:
        """Access a register of the processor, or a part of one."""
        secure = not self._csw & _NON_SECURE
        if size == 4:
            if value is None:
                return processor.read(address, secure)
            processor.write(address, value, secure)
            return value
        data = b"" if value is None else value.to_bytes(size, "little")
        if value is not None:
            self._machine.write(AP1, secure, address, size, data)
            return value
        return processor.read(address & ~3, secure) >> 8 * (address & 3) & (1 << 8 * size) - 1

    def _is_open(self) -> bool:
        """Return whether the chip lets the access port in."""
        return self._number != AP1 or self._machine.state().is_open

    def _address_of(self, address: int) -> int:
        """Return the chip's address of what the access port shows at an address."""
        if self._number != AP1:
            for view in self._port.dbgmcu_through_ap0:
                if view <= address < view + PAGE:
                    return self._dbgmcu + address - view
        return address
