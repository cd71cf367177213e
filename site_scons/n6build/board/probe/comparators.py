"""Breakpoints of the BPU and watchpoints of the DWT (Armv8-M)."""

from __future__ import annotations

from n6build.board.probe.machine import Machine, ProbeFault

BPU_CTRL, BPU_COMP = 0xE000_2000, 0xE000_2008
DWT_CTRL, DWT_COMP = 0xE000_1000, 0xE000_1020
_ENABLE, _KEY, _VERSION_2 = 1, 2, 1 << 28
# A comparator of the DWT: its value, and its function, 16 bytes apart.
_STEP, _FUNCTION = 16, 8
_MATCHES = {4: (True, True), 5: (False, True), 6: (True, False)}
_HALTS, _MATCHED = 1 << 4, 1 << 24
# FUNCTION of a comparator that can watch data addresses.
_KINDS = 0b01011 << 27


class Breakpoints:
    """The registers of the BPU.

    A breakpoint is in the machine while the unit and debugging are on.
    """

    def __init__(self, machine: Machine, count: int) -> None:
        self._machine = machine
        self._values = [0] * count
        self._is_on = self._halts = False
        self._set: set[int] = set()

    def word(self, address: int) -> int | None:
        """Return the value of a register, or None if it is another unit's."""
        if address == BPU_CTRL:
            count = len(self._values)
            return _VERSION_2 | count >> 4 << 12 | (count & 0xF) << 4 | self._is_on
        index = (address - BPU_COMP) // 4
        return self._values[index] if 0 <= index < len(self._values) else None

    def set_word(self, address: int, value: int) -> bool:
        """Set a register; return whether it is one of this unit."""
        index = (address - BPU_COMP) // 4
        if address == BPU_CTRL:
            self._is_on = bool(value & _ENABLE) if value & _KEY else self._is_on
        elif 0 <= index < len(self._values):
            self._values[index] = value
        else:
            return False
        self._update()
        return True

    def let_halt(self, enabled: bool) -> None:
        """Follow DHCSR C_DEBUGEN: without it, nothing halts."""
        self._halts = enabled
        self._update()

    def _update(self) -> None:
        on = self._is_on and self._halts
        wanted = {value & ~1 for value in self._values if value & 1} if on else set()
        for address in self._set - wanted:
            self._machine.set_break(address, False)
        for address in wanted - self._set:
            self._machine.set_break(address, True)
        self._set = wanted


class Watchpoints:
    """The comparators of the DWT that watch data; its counter is the machine's."""

    def __init__(self, machine: Machine, count: int) -> None:
        self._machine = machine
        self._values = [0] * count
        self._functions = [0] * count
        self._halts = self._matched = False
        self._set: set[tuple[int, int, bool, bool]] = set()

    def word(self, address: int) -> int | None:
        """Return the value of a comparator's register, or None if it is none."""
        index, register = divmod(address - DWT_COMP, _STEP)
        if not 0 <= index < len(self._values) or register not in (0, _FUNCTION):
            return None
        if register == 0:
            return self._values[index]
        matched, self._matched = self._matched, False
        return _KINDS | self._functions[index] | (_MATCHED if matched and self._functions[index] & 0xF else 0)

    def set_word(self, address: int, value: int) -> bool:
        """Set a comparator's register; return whether it is one."""
        index, register = divmod(address - DWT_COMP, _STEP)
        if not 0 <= index < len(self._values) or register not in (0, _FUNCTION):
            return False
        (self._functions if register else self._values)[index] = value & (0xC3F if register else 0xFFFF_FFFF)
        self._update()
        return True

    def control(self, value: int) -> int:
        """Return DWT_CTRL with the number of comparators."""
        return value & 0x0FFF_FFFF | len(self._values) << 28

    def let_halt(self, enabled: bool) -> None:
        """Follow DHCSR C_DEBUGEN: without it, nothing halts."""
        self._halts = enabled
        self._update()

    def has_halted(self) -> None:
        """Note that a watchpoint has halted the processor, for FUNCTION MATCHED."""
        self._matched = True

    def _update(self) -> None:
        wanted = set()
        for value, function in zip(self._values, self._functions, strict=True):
            if self._halts and function & _HALTS and function & 0xF in _MATCHES:
                wanted.add((value, 1 << (function >> 10 & 3), *_MATCHES[function & 0xF]))
        for watch in self._set - wanted:
            self._machine.set_watch(*watch, False)
        self._set &= wanted
        for watch in wanted - self._set:
            try:
                self._machine.set_watch(*watch, True)
            except ProbeFault:
                continue
            self._set.add(watch)
