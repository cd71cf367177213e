"""Guest time of a running emulator, and its last place.

Signs of life of a long run. They show instructions and place, and the register that the program
waits for.
"""

from __future__ import annotations

import struct
import time
from dataclasses import dataclass, field
from pathlib import Path

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.base.regular_file import content_of
from n6build.board.virtual_board.source_lines import Places
from n6build.describe.hardware.blocks import register_name
from n6build.describe.hardware.soc import Soc

# Seconds of the host's time that an emulator may take for 2^20 instructions, or to end.
HANGS_S = 300.0
LOOK_S = 1.0
# Layout of the file (n6virt_time.c).
_LAYOUT = struct.Struct("<QQIIQ")


@dataclass(frozen=True)
class Progress:
    """State of a run that goes on.

    Attributes:
        now: Guest time, in instructions with sleeps.
        instructions: Executed instructions.
        pc: Place of the program, or of the instruction that reads `waits_for`.
        waits_for: Address of the register that the program waits for; 0 for none.
        reads: Number of reads of this register.
    """

    now: int = 0
    instructions: int = 0
    pc: int = 0
    waits_for: int = 0
    reads: int = 0


@dataclass
class GuestTime:
    """Guest time of an emulator, which writes it to `file` every 2^20 instructions."""

    file: Path
    _seen: int = -1
    _looked: float = 0.0
    _still_s: float = 0.0

    def read(self) -> int:
        """Return the number of instructions so far.

        A long pause between two calls is no hang: a stop of this process (Ctrl-Z) stops the emulator, too.

        Raises:
            N6Error: N6-VB-007 if the number stands still over repeated calls.
        """
        seen, now = self.progress().now, time.monotonic()
        if seen != self._seen:
            self._seen, self._still_s = seen, 0.0
        else:
            self._still_s += min(now - self._looked, LOOK_S)
        self._looked = now
        if self._still_s > HANGS_S:
            raise hang("it executed no instruction")
        return seen

    @property
    def has_begun(self) -> bool:
        """Return true if the emulator has written the file at least once."""
        return self.file.is_file()

    def progress(self) -> Progress:
        """Return the last state that the emulator wrote."""
        try:
            return Progress(*_LAYOUT.unpack(content_of(self.file)))
        except (FileNotFoundError, struct.error):
            return Progress()


def hang(lacks: str) -> N6Error:
    """Return the error of an emulator that hangs.

    Args:
        lacks: What it has not done for `HANGS_S` seconds, such as `it has not ended`.
    """
    return N6Error(
        "N6-VB-007",
        f"the emulator hangs: {lacks} for {HANGS_S:g} s",
        hint="check that the emulator is not stopped, and that this computer has free memory",
    )


EVERY_S = 10.0


@dataclass
class Heartbeat:
    """Prints a line every ten seconds in which the console is silent.

    Attributes:
        guest_time: Guest time of the emulator.
        places: Places of the programs.
        soc: Chip, for the names of registers; None for addresses.
    """

    guest_time: GuestTime
    places: Places
    soc: Soc | None = None
    _last: float = field(default_factory=time.monotonic)

    def note_line(self) -> None:
        """Note a line of the console, which is a sign of life, too."""
        self._last = time.monotonic()

    def look(self) -> None:
        """Print a line if it is time.

        Raises:
            N6Error: N6-VB-007 if the emulator hangs.
        """
        self.guest_time.read()
        now = time.monotonic()
        if now - self._last < EVERY_S or not self.guest_time.has_begun:
            return
        self._last = now
        state = self.guest_time.progress()
        name = register_name(self.soc, state.waits_for) if self.soc else "register"
        waits = f"waiting for 0x{state.waits_for:08X} {name}, {state.reads:,} reads" if state.waits_for else ""
        say("Running", f"{state.instructions:,} instructions, at {self.places.of(state.pc)}", waits)
