"""A program that cannot go on reports the cause on the console.

This also holds if its stack is broken.
"""

from __future__ import annotations

from pathlib import Path

from firmware_build import BOARD, bring_up, build, image_of
from n6build.board.virtual_board.source_lines import Places
from n6build.describe.formats.boot_header import BinaryType
from n6build.describe.hardware.program_places import appli_ram, program_script
from virtual_board.small_programs import boot_both

PROGRAM = Path(__file__).parent / "programs" / "faulty.c"
SUPERVISOR_CALL = 11


def last_line(tmp_path: Path, fsbl: bytes, does: str) -> tuple[str, Path]:
    """Return the program's last line and its ELF file."""
    extra = [f"-DDOES={does}", "-Wno-infinite-recursion"]
    elf = build(tmp_path, "faulty", [PROGRAM, *bring_up()], program_script(appli_ram(BOARD.soc)), of_first=extra)
    result = boot_both(tmp_path, fsbl, image_of(elf, BinaryType.SSBL), [elf])
    assert result.ended == "stopped"
    return result.lines[-1], elf


def test_a_stack_that_outgrows_its_limit_is_named(tmp_path: Path, fsbl: bytes) -> None:
    line, _ = last_line(tmp_path, fsbl, "OUTGROW_THE_STACK")
    assert line.startswith("n6 fault HardFault cfsr=0x00100000 ")
    assert line.endswith(" stack=overflow stage=appli")


def test_without_a_stack_there_is_a_report_but_no_invented_program_counter(tmp_path: Path, fsbl: bytes) -> None:
    line, _ = last_line(tmp_path, fsbl, "LOSE_THE_STACK")
    assert line.startswith("n6 fault HardFault cfsr=0x00009200 ")
    assert " bfar=0x201ffffc " in line
    assert " pc=" not in line


def test_the_program_counter_is_that_of_the_fault(tmp_path: Path, fsbl: bytes) -> None:
    line, elf = last_line(tmp_path, fsbl, "RUN_WHAT_IS_NO_INSTRUCTION")
    assert " cfsr=0x00010000 " in line
    (address,) = [int(word[3:], 16) for word in line.split() if word.startswith("pc=")]
    (row,) = [number for number, text in enumerate(PROGRAM.read_text().splitlines(), 1) if "/* FAULT */" in text]
    found = Places([elf]).line(address)
    assert found is not None
    assert (found.line, found.function) == (row, "main")


def test_an_exception_that_nobody_handles_is_named(tmp_path: Path, fsbl: bytes) -> None:
    line, _ = last_line(tmp_path, fsbl, "CALL_A_SUPERVISOR")
    assert line == f"n6 fault exception={SUPERVISOR_CALL} stage=appli"
