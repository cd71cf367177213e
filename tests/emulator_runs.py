"""Programs that the emulator starts itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Unpack

from n6build.board.virtual_board.run import RunOptions, RunResult, run_emulator


def run_program(
    emulator: Path, program: Path, *, stop: Callable[[str], bool] = lambda _: False, **options: Unpack[RunOptions]
) -> RunResult:
    """Run an ELF file from its vector table, without boot ROM and NOR.

    It starts in AXISRAM2 and has semihosting.
    """
    arguments = ["-kernel", str(program), "-semihosting-config", "enable=on,target=native"]
    return run_emulator(emulator, "", arguments, [program], stop, **options)
