"""Virtual boards with a debug port, and small programs for them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from firmware_build import BOARD, build_fsbl, compiler, image_of, write_nor
from n6build.board.flash.virtual import make_erased
from n6build.board.probe.board import ProbedBoard, probed_board
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.run import NorBoot
from n6build.describe.formats.boot_header import BinaryType
from n6build.describe.hardware.board import Board
from n6build.describe.hardware.debug_port import read_debug_port
from virtual_board.small_programs import PROGRAMS

# Places in RAM for a program, its data and its stack.
CODE, DATA, STACK = 0x3400_0000, 0x3400_8000, 0x3402_0000


@contextmanager
def switched_on(
    folder: Path, board: Board = BOARD, *, nor: Path | None = None, development: bool = True, opens_us: int = 0
) -> Iterator[ProbedBoard]:
    """Switch a board on; its NOR is erased, in `nor.bin`, if none is given.

    AP1 is open at once behind a reset, unless another time is given.
    """
    nor = nor or folder / "nor.bin"
    if not nor.exists():
        make_erased(nor, board.nor.size)
    boot = NorBoot(nor, board, strict_clocks=False, keeps_writes=True, development=development)
    described = replace(read_debug_port(), opens_us=opens_us)
    with probed_board(find_emulator(board.soc), boot, folder / "findings.jsonl", described) as on:
        yield on


def nor_that_says_hello(folder: Path) -> Path:
    elf = build_fsbl(folder / "fsbl", PROGRAMS / "says_hello.c", ["-DDOES=NOTHING"], BOARD)
    return write_nor(folder / "nor.bin", {BOARD.slots.fsbl.address: image_of(elf, BinaryType.FSBL)})


def assembled(folder: Path, text: str, address: int = CODE) -> bytes:
    """Return the bytes of a program in assembler."""
    source, elf, binary = folder / "program.s", folder / "program.elf", folder / "program.bin"
    source.write_text(f".syntax unified\n.thumb\n.global _start\n.thumb_func\n_start:\n{text}\n")
    options = ["-mcpu=cortex-m55", "-mthumb", "-nostdlib", f"-Wl,-Ttext={address:#x},--no-warn-rwx-segments"]
    subprocess.run([compiler(), *options, "-x", "assembler", str(source), "-o", str(elf)], check=True)
    objcopy = shutil.which("arm-none-eabi-objcopy")
    assert objcopy, "arm-none-eabi-objcopy is missing: make setup"
    subprocess.run([objcopy, "-O", "binary", str(elf), str(binary)], check=True)
    return binary.read_bytes()
