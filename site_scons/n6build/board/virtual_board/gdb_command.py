"""The command that starts GDB at the virtual board."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from n6build.describe.hardware import blocks
from n6build.describe.hardware.soc import Soc


def gdb_command(port: int, programs: Sequence[Path], soc: Soc | None, folder: Path) -> str:
    """Return the command line that starts GDB, for a terminal.

    Args:
        port: TCP port of the emulator's server.
        programs: ELF files with symbols.
        soc: Chip, for the names of registers.
        folder: Folder for a file with these names, which is there as long as the emulator.
    """
    words = ["gdb-multiarch", "-ex", f"'target remote :{port}'", *(f"-ex {_loads(program)}" for program in programs)]
    if soc:
        registers = folder / blocks.FILE
        registers.write_text(blocks.gdb_registers(soc))
        words.append(f"-x {registers}")
    return " ".join(words)


def _loads(program: Path) -> str:
    """Return GDB's command to load symbols, quoted for a shell and for GDB itself."""
    return shlex.quote(f"add-symbol-file {shlex.quote(str(program))}")
