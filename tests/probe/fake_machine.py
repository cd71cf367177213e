"""A machine without an emulator, with memory as a dictionary."""

from __future__ import annotations

from dataclasses import replace

from n6build.board.probe.debug_port import VirtualDebugPort
from n6build.board.probe.machine import ProbeFault, State
from n6build.describe.hardware.boards import load_board
from n6build.describe.hardware.debug_port import read_debug_port

BOARD = load_board("nucleo-n657")
# The end is no multiple of the bytes that an access port increments by itself.
RAM, RAM_END = 0x3400_0000, 0x3410_0100
OPEN = State("waits", is_secure=True, is_asleep=False, is_open=True, resets=1)


class FakeMachine:
    """A machine with one RAM, a register file, and a list of what was asked."""

    def __init__(self) -> None:
        self.memory: dict[int, int] = {}
        self.registers: dict[int, int] = dict.fromkeys(range(32), 0)
        self.now = OPEN
        self.breaks: set[int] = set()
        self.watches: set[tuple[int, int, bool, bool]] = set()
        self.debugging = (False, 0)
        self.asked: list[str] = []

    def read(self, port: int, secure: bool, address: int, size: int, count: int) -> bytes:
        self._check(port, address, size * count)
        return bytes(self.memory.get(address + i, 0) for i in range(size * count))

    def write(self, port: int, secure: bool, address: int, size: int, data: bytes) -> None:
        self._check(port, address, len(data))
        self.memory.update(enumerate(data, address))

    def state(self) -> State:
        return self.now

    def halt(self) -> State:
        return self._become("probe")

    def run(self) -> State:
        return self._become("runs")

    def step(self, masks_interrupts: bool) -> State:
        self.registers[15] += 2
        self.asked.append(f"step {masks_interrupts}")
        return self._become("probe")

    def reset(self, reason: int) -> State:
        self.asked.append(f"reset {reason:#x}")
        self.now = replace(self.now, resets=self.now.resets + 1)
        return self._become("catch" if self.debugging[0] and self.debugging[1] & 1 else "waits")

    def debug(self, enabled: bool, catches: int) -> None:
        self.debugging = (enabled, catches)

    def register(self, number: int) -> int:
        if number not in self.registers:
            raise ProbeFault("register: no register has this number")
        return self.registers[number]

    def set_register(self, number: int, value: int) -> None:
        self.registers[number] = value

    def set_break(self, address: int, on: bool) -> None:
        (self.breaks.add if on else self.breaks.discard)(address)

    def set_watch(self, address: int, size: int, reads: bool, writes: bool, on: bool) -> None:
        (self.watches.add if on else self.watches.discard)((address, size, reads, writes))

    def stop(self, why: str) -> None:
        """Halt for another reason than a debugger."""
        self._become(why)

    def _become(self, why: str) -> State:
        self.now = replace(self.now, why=why)
        return self.now

    def _check(self, port: int, address: int, count: int) -> None:
        if port == 1 and not self.now.is_open:
            raise ProbeFault("closed: AP1 is closed")
        in_ram = address >= RAM and address + count <= RAM_END
        if not in_ram and address >> 28 not in (0x5, 0xE):
            raise ProbeFault("hole: nothing answers")


def fake_port() -> tuple[VirtualDebugPort, FakeMachine]:
    """Return a debug port, and the machine behind it."""
    machine = FakeMachine()
    return VirtualDebugPort(machine, read_debug_port(), BOARD.soc), machine
