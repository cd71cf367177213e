"""The NOR's window against the state of the part: one wrong register is enough, and the board says which."""

from __future__ import annotations

from pathlib import Path

import pytest
from firmware_build import BOARD, build_fsbl, image_of, write_nor
from n6build.formats.boot_header import BinaryType
from n6build.virtual_board.build import find_emulator
from n6build.virtual_board.run import NorBoot, RunResult, run_nor

PROGRAM = Path(__file__).parent / "programs" / "nor_window.c"
WORD = bytes.fromhex("01020304")


def read_after(tmp_path: Path, change: str) -> RunResult:
    elf = build_fsbl(tmp_path, PROGRAM, [f"-DCHANGE={change}"])
    parts = {BOARD.slots.fsbl.address: image_of(elf, BinaryType.FSBL), BOARD.slots.weights.address: WORD}
    nor = write_nor(tmp_path / "nor.bin", parts)
    return run_nor(
        find_emulator(BOARD.soc),
        NorBoot(nor, BOARD),
        programs=[elf],
        stop=lambda line: line.startswith(("end", "n6 fault")),
    )


@pytest.mark.parametrize("change", ["NOTHING", "OCTAL_STR"])
def test_a_window_that_fits_the_part_reads_it(tmp_path: Path, change: str) -> None:
    result = read_after(tmp_path, change)
    assert result.findings == ()
    assert "word=0x04030201" in result.lines


MISTAKES = [
    (
        "DUMMY_CYCLES",
        "ones: the dummy cycles differ from the part's (TCR DCYC against its register at 0x300)",
    ),
    ("OPCODE", "ones: no octal DTR read (IR 0xEE11 with address and data on eight lines, both edges)"),
    (
        "ONE_EDGE",
        "ones: the controller and the NOR disagree on lines and edges (CCR against the part's mode)",
    ),
    ("SWAPPED_PORTS", "ones: XSPIM still swaps the controllers, as the boot ROM left it (XSPIM CR MODE)"),
    ("PADS_OFF", "ones: the pads have no supply (PWR SVMCR3 VDDIO3SV)"),
    ("PIN", "ones: pin PN4 is not set to the NOR (alternate function 9)"),
    ("MEMORY_TYPE", "swapped bytes: the memory type is not that of the part (DCR1 MTYP)"),
]


@pytest.mark.parametrize(("change", "reason"), MISTAKES, ids=[mistake[0] for mistake in MISTAKES])
def test_a_wrong_register_is_named(tmp_path: Path, change: str, reason: str) -> None:
    result = read_after(tmp_path, change)
    assert [(finding.kind, finding.text) for finding in result.findings] == [
        ("nor-mode", f"read of the NOR at 0x71000000 gives {reason}")
    ]
    assert result.findings[0].where.startswith("tests/virtual_board/programs/nor_window.c:")
    expected = "word=0x03040102" if change == "MEMORY_TYPE" else "word=0xffffffff"
    assert expected in result.lines
