"""The debug registers of the Cortex-M55, as AP1 reaches them."""

from __future__ import annotations

from collections.abc import Callable

from n6build.board.probe.comparators import DWT_CTRL, Breakpoints, Watchpoints
from n6build.board.probe.machine import Machine, State
from n6build.board.probe.rom_table import RomTable
from n6build.describe.hardware.debug_port import DebugPort

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
