"""The NOR's window and the part's state: one wrong register is reported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from firmware_build import BOARD
from n6build.board.virtual_board.run import Limits, RunResult
from n6build.describe.hardware.board import Board
from slow_rows import telling_rows

from virtual_board.small_programs import boot_program

WORD = bytes.fromhex("01020304")


def read_after(tmp_path: Path, change: str, board: Board = BOARD) -> RunResult:
    more = {BOARD.slots.weights.address: WORD}
    return boot_program(tmp_path, "nor_window.c", f"CHANGE={change}", board=board, more=more, limits=Limits())


FITTING = ["NOTHING", "OCTAL_STR", "FEWER_CYCLES", "FROM_HCLK", "FROM_PER", "FROM_IC4"]


@pytest.mark.parametrize("change", telling_rows(FITTING, ("NOTHING", "OCTAL_STR", "FROM_IC4").__contains__))
def test_a_window_that_fits_the_part_reads_it(tmp_path: Path, change: str) -> None:
    result = read_after(tmp_path, change)
    assert result.findings == ()
    assert "word=0x04030201" in result.lines


MISTAKES = [
    ("DUMMY_CYCLES", "ones: the dummy cycles differ from the part's (TCR DCYC against its register at 0x300)"),
    ("NO_STROBE", "ones: the dummy cycles differ from the part's (TCR DCYC against its register at 0x300)"),
    (
        "TOO_FAST",
        "ones: 400000000 Hz are too fast for the part: its number of dummy cycles takes 200000000 "
        "(RCC CCIPR6, DCR2 PRESCALER)",
    ),
    ("SECOND_CHIP", "ones: nothing is at the second chip select (CR CSSEL)"),
    ("OPCODE", "ones: no octal DTR read (IR 0xEE11 with address and data on eight lines, both edges)"),
    ("ONE_EDGE", "ones: the controller uses other lines or edges than the NOR (CCR against the part's mode)"),
    ("DATA_EDGE", "ones: the part gives the data at both edges, the controller takes it at one (CCR DDTR)"),
    ("SWAPPED_PORTS", "ones: XSPIM still swaps the controllers, as the boot ROM left it (XSPIM CR MODE)"),
    ("PADS_OFF", "ones: the pads have no supply (PWR SVMCR3 VDDIO3SV)"),
    ("PIN", "ones: pin PN4 is not set to the NOR (alternate function 9)"),
    ("MEMORY_TYPE", "swapped bytes: the memory type is not that of the part (DCR1 MTYP)"),
]


_ALWAYS = ("TOO_FAST", "DUMMY_CYCLES", "SWAPPED_PORTS")


@pytest.mark.parametrize(
    ("change", "reason"),
    [pytest.param(*each, marks=() if each[0] in _ALWAYS else pytest.mark.slow, id=each[0]) for each in MISTAKES],
)
def test_a_wrong_register_is_named(tmp_path: Path, change: str, reason: str) -> None:
    result = read_after(tmp_path, change)
    assert [(finding.kind, finding.text) for finding in result.findings] == [
        ("nor-mode", f"Read of the NOR at 0x71000000 gives {reason}")
    ]
    assert result.findings[0].where.startswith("tests/virtual_board/programs/nor_window.c:")
    expected = "word=0x03040102" if change == "MEMORY_TYPE" else "word=0xffffffff"
    assert expected in result.lines


@pytest.mark.parametrize(
    ("change", "kind", "text"),
    [
        ("PER_OFF", "nor-not-mapped", "the kernel clock of XSPI2, per_ck (RCC CCIPR7, MISCENR PEREN), does not run"),
        ("SMALL_PART", "nor-size", "the controller knows a part of 0x10 bytes (DCR1 DEVSIZE)"),
    ],
)
def test_what_the_controller_cannot_reach_is_a_fault(tmp_path: Path, change: str, kind: str, text: str) -> None:
    (finding,) = read_after(tmp_path, change).findings
    assert (finding.kind, finding.text) == (kind, f"Read of the NOR at 0x71000000 faults: {text}")


def test_a_clock_slightly_above_the_limit_is_a_warning(tmp_path: Path) -> None:
    dummy = BOARD.nor_commands.dummy
    commands = replace(BOARD.nor_commands, dummy=replace(dummy, max_hz=(199_000_000, *dummy.max_hz[1:])))
    result = read_after(tmp_path, "SLIGHTLY_FAST", replace(BOARD, nor_commands=commands))
    (finding,) = result.findings
    assert (finding.kind, finding.is_warning) == ("nor-rate", True)
    assert "200000000 Hz are slightly above the limit of the part" in finding.text
    assert "word=0x04030201" in result.lines


@pytest.mark.parametrize(
    ("change", "kind", "text"),
    [
        ("RANGE", "nor-range", ""),
        ("CHIP_SELECT", "nor-pin", "Pin PN1, the chip select of the NOR, is not set by the program"),
        ("STILL_MAPPED", "xspi-busy", "XSPI2 is busy, so the write to 0x5802a108 is lost"),
        ("OTHER_MODE", "xspi-busy", "XSPI2 is busy, so its mode does not change (CR FMODE)"),
    ],
    ids=[
        "pads set for another voltage",
        "a chip select that only the boot ROM has set",
        "a register of a controller that is busy with its window",
        "the mode of such a controller",
    ],
)
def test_what_changes_no_word_is_found(tmp_path: Path, change: str, kind: str, text: str) -> None:
    """Only pads and pins are warnings."""
    result = read_after(tmp_path, change)
    (finding,) = result.findings
    assert (finding.kind, finding.is_warning) == (kind, kind.startswith("nor-"))
    assert finding.text.startswith(text)
    assert "word=0x04030201" in result.lines


def test_a_window_with_a_timeout_is_not_busy(tmp_path: Path) -> None:
    result = read_after(tmp_path, "TIMEOUT")
    assert result.findings == ()
    assert "word=0x04030201" in result.lines
