"""Signs of life of a long run.

They show instructions and place, and the register that the program waits for.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from n6build.base.console import say
from n6build.board.virtual_board.guest_time import GuestTime
from n6build.board.virtual_board.source_lines import Places
from n6build.describe.hardware.blocks import register_name
from n6build.describe.hardware.soc import Soc

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
