"""Small programs on the virtual board, from a NOR or started by the emulator."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from emulator_runs import run_program
from firmware_build import BOARD, build, build_fsbl, image_of, write_nor
from n6build.base.paths import MACHINE_FILES
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.run import Limits, NorBoot, RunResult, run_nor
from n6build.describe.formats.boot_header import BinaryType
from n6build.describe.hardware.board import Board

PROGRAMS = Path(__file__).parent / "programs"
_SCRIPT = "SECTIONS { . = 0x34180400; .text : { KEEP(*(.vectors)) *(.text* .rodata*) } }"
_SOON, _LONG = Limits(silence=200_000_000), Limits(1_000_000_000)


def line_of(source: str, text: str) -> str:
    """Return the place of a finding: the one line of a program with this text."""
    lines = (PROGRAMS / source).read_text().splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if text in line]
    return f"tests/virtual_board/programs/{source}:{number} in "


def boot(
    folder: Path,
    parts: Mapping[int, bytes],
    elves: Sequence[Path] = (),
    board: Board = BOARD,
    *,
    stop: Callable[[str], bool] = lambda line: line.startswith(("end", "n6 fault")),
    limits: Limits = _SOON,
    size: int = 32 << 20,
    **options: Any,
) -> RunResult:
    """Run a NOR until a program says `end` or faults.

    Args:
        parts: Address in the window -> bytes.
        size: Bytes of the NOR.
        options: As in NorBoot.
    """
    nor = NorBoot(write_nor(folder / "nor.bin", dict(parts), size), board, **options)
    return run_nor(find_emulator(board.soc), nor, programs=elves, stop=stop, limits=limits)


def boot_both(
    folder: Path, fsbl: bytes, appli: bytes, elves: Sequence[Path] = (), board: Board = BOARD, **options: Any
) -> RunResult:
    """Run an FSBL and an Appli from their places."""
    parts = {board.slots.fsbl.address: fsbl, board.slots.appli.address: appli}
    return boot(folder, parts, elves, board, **options)


def boot_elf(
    folder: Path, elf: Path, board: Board = BOARD, more: Mapping[int, bytes] | None = None, **options: Any
) -> RunResult:
    """Run a program from the place of the FSBL, with `more` in the NOR."""
    parts = {board.slots.fsbl.address: image_of(elf, BinaryType.FSBL), **(more or {})}
    return boot(folder, parts, [elf], board, **options)


def boot_program(folder: Path, source: str, *defines: str, board: Board = BOARD, **options: Any) -> RunResult:
    """Build a program and run it from the place of the FSBL.

    Args:
        options: As in boot_elf and boot.
    """
    elf = build_fsbl(folder, PROGRAMS / source, [f"-D{define}" for define in defines], board)
    return boot_elf(folder, elf, board, **options)


def build_alone(folder: Path, source: str, *defines: str) -> Path:
    """Build a program that the emulator starts itself."""
    options = [*(f"-D{define}" for define in defines), "-Wl,--no-warn-rwx-segments"]
    return build(folder, Path(source).stem, [PROGRAMS / source], _SCRIPT, options)


def run_alone(folder: Path, source: str, *defines: str, limits: Limits = _LONG) -> RunResult:
    elf = build_alone(folder, source, *defines)
    return run_program(find_emulator(BOARD.soc), elf, limits=limits)


def host_program(folder: Path, name: str) -> Path:
    """Compile a module of the virtual board for this machine, with its test program."""
    program = folder / name
    sources = [str(PROGRAMS.with_name(f"{name}.c")), str(MACHINE_FILES / f"n6virt_{name}.c")]
    flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined,address", "-fno-sanitize-recover"]
    subprocess.run(["gcc", *flags, f"-I{MACHINE_FILES}", *sources, "-lm", "-o", str(program)], check=True)
    return program
