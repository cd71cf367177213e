"""The debug registers of the Cortex-M55, as AP1 reaches them."""

from __future__ import annotations

from collections.abc import Callable

from n6build.board.probe.machine import Machine, ProbeFault, State
from n6build.board.probe.rom_table import RomTable
from n6build.describe.hardware.debug_port import DebugPort

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


AP1 = 1
AIRCR, DFSR, DAUTHSTATUS, DSCSR = 0xE000_ED0C, 0xE000_ED30, 0xE000_EFB8, 0xE000_EE08
DHCSR, DCRSR, DCRDR, DEMCR = 0xE000_EDF0, 0xE000_EDF4, 0xE000_EDF8, 0xE000_EDFC
_DEBUG_KEY, _VECTOR_KEY, _RESET_REQUEST = 0xA05F, 0x05FA, 1 << 2
_C_DEBUGEN, _C_HALT, _C_STEP, _C_MASKINTS = 1, 2, 4, 8
_CONTROLS = 0x2F
_S_REGRDY, _S_HALT, _S_SLEEP, _S_LOCKUP, _S_SDE, _S_RETIRE, _S_RESET = (
    1 << bit for bit in (16, 17, 18, 19, 20, 24, 25)
)
# Bits VC_* of DEMCR, which only a debugger changes.
_CATCHES = 0xFF1
# A reason for a halt -> bit of DFSR.
_REASONS = {"probe": 1, "bkpt": 2, "watchpoint": 4, "catch": 8}
_CDS, _SBRSEL = 1 << 16, 3
# All kinds of debugging are allowed, in both states.
_ALL_ALLOWED = 0xFF
_WRITE, _NUMBER = 1 << 16, 0x7F


class Processor:
    """The processor's own registers.

    Those of debugging are here, all others in the machine.
    """

    def __init__(self, machine: Machine, port: DebugPort, reset_flag: int) -> None:
        self._machine = machine
        self._rom = RomTable(port)
        self._breakpoints = Breakpoints(machine, port.breakpoints)
        self._watchpoints = Watchpoints(machine, port.watchpoints)
        self._reset_flag = reset_flag
        self._controls = self._faults = self._data = self._catches = self._banked = 0
        self._was_halted = False
        self._resets = 0
        self._reset_seen = True
        # DCRSR is only written.
        self._reads: dict[int, Callable[[], int]] = {
            DHCSR: self._status,
            DCRSR: int,
            DCRDR: lambda: self._data,
            DFSR: self._why_halted,
            DAUTHSTATUS: lambda: _ALL_ALLOWED,
            DSCSR: lambda: self._banked | (_CDS if self._machine.state().is_secure else 0),
        }
        self._writes: dict[int, Callable[[int], None]] = {
            DHCSR: self._control,
            DCRSR: self._transfer,
            DCRDR: self._set_data,
            DFSR: self._clear_faults,
            DSCSR: self._select_bank,
        }

    def read(self, address: int, secure: bool) -> int:
        """Return the word at an address; raise ProbeFault."""
        known = self._rom.word(address)
        for unit in (self._breakpoints, self._watchpoints):
            known = unit.word(address) if known is None else known
        if known is not None:
            return known
        if address in self._reads:
            return self._reads[address]()
        word = int.from_bytes(self._machine.read(AP1, secure, address, 4, 1), "little")
        if address == DEMCR:
            return word & ~_CATCHES | self._catches
        return self._watchpoints.control(word) if address == DWT_CTRL else word

    def write(self, address: int, value: int, secure: bool) -> None:
        """Write the word at an address; raise ProbeFault."""
        if self._breakpoints.set_word(address, value) or self._watchpoints.set_word(address, value):
            return
        if address in self._writes:
            self._writes[address](value)
        elif address == AIRCR and value >> 16 == _VECTOR_KEY and value & _RESET_REQUEST:
            self.reset(self._reset_flag)
        else:
            if address == DEMCR:
                self._catches = value & _CATCHES
                self._machine.debug(bool(self._controls & _C_DEBUGEN), self._catches)
                value &= ~_CATCHES
            self._machine.write(AP1, secure, address, 4, value.to_bytes(4, "little"))

    def reset(self, reason: int) -> None:
        """Reset the chip; `reason` is a flag of RCC HWRSR, or 0 for the pin."""
        self._note(self._machine.reset(reason))

    def _look(self) -> State:
        return self._note(self._machine.state())

    def _note(self, state: State) -> State:
        """Follow the machine since the last look.

        A reset ends a halt, unless it is caught.
        """
        if state.resets != self._resets:
            self._resets, self._reset_seen, self._was_halted = state.resets, True, False
            self._controls &= _C_DEBUGEN
        if state.is_halted and not self._was_halted:
            self._controls |= _C_HALT
            self._faults |= _REASONS[state.why]
            if state.why == "watchpoint":
                self._watchpoints.has_halted()
        self._was_halted = state.is_halted
        return state

    def _why_halted(self) -> int:
        self._look()
        return self._faults

    def _clear_faults(self, value: int) -> None:
        """Write DFSR, where ones clear."""
        self._look()
        self._faults &= ~value

    def _set_data(self, value: int) -> None:
        self._data = value

    def _select_bank(self, value: int) -> None:
        self._banked = value & _SBRSEL

    def _status(self) -> int:
        state = self._look()
        bits = self._controls | _S_REGRDY | _S_SDE
        bits |= _S_HALT if state.is_halted else _S_RETIRE if state.why != "locked" else 0
        bits |= _S_SLEEP if state.is_asleep and not state.is_halted else 0
        bits |= _S_LOCKUP if state.why == "locked" else 0
        bits |= _S_RESET if self._reset_seen else 0
        self._reset_seen = False
        return bits

    def _control(self, value: int) -> None:
        if value >> 16 != _DEBUG_KEY:
            return
        state = self._look()
        before, self._controls = self._controls, value & _CONTROLS
        enabled = bool(value & _C_DEBUGEN)
        if enabled != bool(before & _C_DEBUGEN):
            self._machine.debug(enabled, self._catches)
            self._breakpoints.let_halt(enabled)
            self._watchpoints.let_halt(enabled)
        if enabled and value & _C_HALT:
            if not state.is_halted:
                self._note(self._machine.halt())
        elif enabled and value & _C_STEP and state.is_halted:
            self._was_halted = False
            self._note(self._machine.step(bool(value & _C_MASKINTS)))
        elif state.is_halted:
            self._was_halted = False
            self._note(self._machine.run())

    def _transfer(self, value: int) -> None:
        """Move a register from or to DCRDR; without effect while the processor runs."""
        if not self._look().is_halted:
            return
        if value & _WRITE:
            self._machine.set_register(value & _NUMBER, self._data)
        else:
            self._data = self._machine.register(value & _NUMBER)
