"""The channel to the emulator, with memory accesses and halting debug.

tools/virtual_board/n6virt_probe.c has its commands.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import Protocol

from n6build.base.errors import N6Error

# Limit of one access in bytes, as in the emulator.
MOST_BYTES = 1 << 16
# A step of the emulator takes microseconds; this is for a host that is very busy.
PATIENCE_S = 60.0
_HALTED = frozenset({"probe", "bkpt", "watchpoint", "catch"})


class ProbeFault(Exception):
    """An access that the chip refuses; the text begins with its kind and a colon."""


class BoardGone(N6Error):
    """The end of the emulator, N6-PROBE-003."""

    def __init__(self, why: str) -> None:
        super().__init__(
            "N6-PROBE-003",
            f"the virtual board has ended: {why}",
            hint="start n6build probe-server again",
        )


@dataclass(frozen=True)
class State:
    """State of the processor.

    Attributes:
        why: 'runs', 'waits' for a probe in the boot ROM, 'locked' up, or halted by 'probe', 'bkpt', 'watchpoint' or
            'catch'.
        is_secure: Security state.
        is_asleep: Whether it was in WFI.
        is_open: Whether the chip lets AP1 in.
        resets: Number of resets since power-on.
    """

    why: str
    is_secure: bool
    is_asleep: bool
    is_open: bool
    resets: int

    @property
    def is_halted(self) -> bool:
        """Return whether it is in debug state."""
        return self.why in _HALTED


class Machine(Protocol):
    """The chip as a debug port reaches it."""

    def read(self, port: int, secure: bool, address: int, size: int, count: int) -> bytes:
        """Return `count` elements of `size` bytes; raise ProbeFault."""

    def write(self, port: int, secure: bool, address: int, size: int, data: bytes) -> None:
        """Write elements of `size` bytes; raise ProbeFault."""

    def state(self) -> State:
        """Return the processor's state."""

    def halt(self) -> State:
        """Halt the processor."""

    def run(self) -> State:
        """Let the processor run."""

    def step(self, masks_interrupts: bool) -> State:
        """Execute one instruction."""

    def reset(self, reason: int) -> State:
        """Reset the chip; `reason` is a flag of RCC HWRSR, or 0 for the pin."""

    def debug(self, enabled: bool, catches: int) -> None:
        """Set DHCSR C_DEBUGEN, and bits VC_* of DEMCR."""

    def register(self, number: int) -> int:
        """Return a register by its number in DCRSR; raise ProbeFault."""

    def set_register(self, number: int, value: int) -> None:
        """Set a register; raise ProbeFault."""

    def set_break(self, address: int, on: bool) -> None:
        """Set or clear a breakpoint."""

    def set_watch(self, address: int, size: int, reads: bool, writes: bool, on: bool) -> None:
        """Set or clear a watchpoint; raise ProbeFault."""


class MachineChannel:
    """A `Machine` over the emulator's socket."""

    def __init__(self, channel: socket.socket) -> None:
        channel.settimeout(PATIENCE_S)
        self._channel = channel
        self._received = b""

    def pace(self, transfer_us: int, opens_us: int) -> None:
        """Set the pace of the chip.

        Args:
            transfer_us: Guest time of each transfer to a register while the processor is halted.
            opens_us: Time behind a reset until the boot ROM opens AP1.
        """
        self._done(f"pace {transfer_us:x} {opens_us:x}")

    def read(self, port: int, secure: bool, address: int, size: int, count: int) -> bytes:
        """Read memory as `Machine.read` says."""
        return bytes.fromhex(self._ask(f"read {port:x} {secure:d} {address:x} {size:x} {count:x}", "data"))

    def write(self, port: int, secure: bool, address: int, size: int, data: bytes) -> None:
        """Write memory as `Machine.write` says."""
        self._done(f"write {port:x} {secure:d} {address:x} {size:x} {data.hex()}")

    def state(self) -> State:
        """Return the processor's state."""
        return self._state("state")

    def halt(self) -> State:
        """Halt the processor."""
        return self._state("halt")

    def run(self) -> State:
        """Let the processor run."""
        return self._state("run")

    def step(self, masks_interrupts: bool) -> State:
        """Execute one instruction."""
        return self._state(f"step {masks_interrupts:d}")

    def reset(self, reason: int) -> State:
        """Reset the chip as `Machine.reset` says."""
        return self._state(f"reset {reason:x}")

    def debug(self, enabled: bool, catches: int) -> None:
        """Set what halts the processor."""
        self._done(f"debug {enabled:d} {catches:x}")

    def register(self, number: int) -> int:
        """Return a register by its number in DCRSR."""
        return int(self._ask(f"get {number:x}", "value"), 16)

    def set_register(self, number: int, value: int) -> None:
        """Set a register."""
        self._done(f"set {number:x} {value:x}")

    def set_break(self, address: int, on: bool) -> None:
        """Set or clear a breakpoint."""
        self._done(f"break {address:x} {on:d}")

    def set_watch(self, address: int, size: int, reads: bool, writes: bool, on: bool) -> None:
        """Set or clear a watchpoint."""
        self._done(f"watch {address:x} {size:x} {reads:d} {writes:d} {on:d}")

    def _state(self, command: str) -> State:
        why, secure, asleep, opened, resets = self._ask(command, "state").split()
        return State(why, secure == "1", asleep == "1", opened == "1", int(resets, 16))

    def _done(self, command: str) -> None:
        self._ask(command, "done")

    def _ask(self, command: str, expected: str) -> str:
        """Return the rest of an answer that begins with `expected`.

        Raises:
            ProbeFault: The chip refuses the command.
            BoardGone: N6-PROBE-003.
        """
        try:
            self._channel.sendall(command.encode() + b"\n")
            while b"\n" not in self._received:
                more = self._channel.recv(1 << 17)
                if not more:
                    raise BoardGone(f"no answer to {command.split(maxsplit=1)[0]}")
                self._received += more
        except OSError as error:
            raise BoardGone(f"no answer to {command.split(maxsplit=1)[0]} ({error})") from error
        line, _, self._received = self._received.partition(b"\n")
        word, _, rest = line.decode().partition(" ")
        if word == "fault":
            raise ProbeFault(rest)
        if word != expected:
            raise ProbeFault(f"command: {command.split(maxsplit=1)[0]} was answered with {word}")
        return rest
