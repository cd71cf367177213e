"""The PSRAM's window and the part's state: one wrong register is reported."""

from __future__ import annotations

from pathlib import Path

import pytest
from n6build.board.virtual_board.run import RunResult

from virtual_board.small_programs import boot_elf, boot_program
from virtual_board.st_drivers import BOARD, build_with_drivers


def run_after(tmp_path: Path, change: str) -> RunResult:
    return boot_program(tmp_path, "psram_window.c", f"CHANGE={change}", board=BOARD)


def test_a_window_that_fits_the_part_keeps_what_is_written(tmp_path: Path) -> None:
    result = run_after(tmp_path, "NOTHING")
    assert result.findings == ()
    assert result.lines[:2] == ("status=0 id=0x00000d07", "word=0x01020304")


READ = "instruction on eight lines at one edge, 32-bit address on eight at both, data at both"
MISTAKES = [
    ("READ_LATENCY", "the latency differs from the part's (TCR DCYC + 1 against its register 0)"),
    ("WRITE_LATENCY", "the latency differs from the part's (WTCR DCYC + 1 against its register 4)"),
    ("READ_OPCODE", f"no linear read (IR 0x20; CCR: {READ})"),
    ("WRITE_EDGES", f"no linear write (WIR 0xA0; WCCR: {READ})"),
    ("EIGHT_LINES", "the part has its data on sixteen lines (CCR DMODE against its register 8)"),
    ("NO_STROBE", "the strobe is off, which masks bytes (WCCR DQSE)"),
    ("MEMORY_TYPE", "the memory type is not that of the part (DCR1 MTYP)"),
    ("SMALL_PART", "the controller knows a part smaller than this one (DCR1 DEVSIZE)"),
    ("PADS_OFF", "the pads have no supply (PWR SVMCR3 0x00000100)"),
    ("PIN", "pin PP4 is not set to the PSRAM (alternate function 9)"),
    ("SWAPPED_PORTS", "XSPIM gives XSPI1 another port, as the boot ROM left it (XSPIM CR MODE, MUXEN)"),
]


_ALWAYS = ("READ_LATENCY", "EIGHT_LINES", "PIN")


@pytest.mark.parametrize(
    ("change", "reason"),
    [pytest.param(*each, marks=() if each[0] in _ALWAYS else pytest.mark.slow, id=each[0]) for each in MISTAKES],
)
def test_a_wrong_register_is_named(tmp_path: Path, change: str, reason: str) -> None:
    result = run_after(tmp_path, change)
    assert [(finding.kind, finding.text) for finding in result.findings] == [
        ("psram-mode", f"Write to the PSRAM at 0x90000040 is lost: {reason}"),
        ("psram-mode", f"Read of the PSRAM at 0x90000040 gives ones: {reason}"),
    ]
    assert all(finding.where.startswith("tests/virtual_board/programs/psram_window.c:") for finding in result.findings)
    assert "word=0xffffffff" in result.lines


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("UNMAPPED", "XSPI1 is not in memory-mapped mode"),
        pytest.param("NEVER_OPENED", "XSPI1 is not in memory-mapped mode", marks=pytest.mark.slow),
        ("NO_CLOCK", "the kernel clock of XSPI1, per_ck (RCC CCIPR7, MISCENR PEREN), does not run"),
    ],
)
def test_a_forgotten_mapping_is_a_fault_with_its_line(tmp_path: Path, change: str, reason: str) -> None:
    result = run_after(tmp_path, change)
    (finding,) = result.findings
    assert finding.kind == "psram-not-mapped"
    assert finding.text == f"Write to the PSRAM at 0x90000040 faults: {reason}"
    assert finding.where.startswith("tests/virtual_board/programs/psram_window.c:")
    assert any(line.startswith("n6 fault") for line in result.lines)


def test_what_st_s_own_driver_sends_reaches_the_part(tmp_path: Path) -> None:
    """The program is ST's board support package with HAL.

    It makes indirect writes and reads, and then uses the window.
    """
    supported = ("STM32N6570-DK/stm32n6570_discovery_xspi.c", "Components/aps256xx/aps256xx.c")
    sources = [f"Drivers/BSP/{name}" for name in supported]
    elf = build_with_drivers(tmp_path, "st_psram", ("xspi", "gpio", "pwr_ex"), sources, ("aps256xx", "mx66uw1g45g"))
    result = boot_elf(tmp_path, elf, BOARD)
    assert result.findings == ()
    assert result.lines == (
        "init=0x00000000",
        "read=0x00000000",
        "mr8=0x00000040",
        "write=0x00000000",
        "read=0x00000000",
        "word=0x01020304",
        "map=0x00000000",
        "mapped=0x01020304",
        "written=0x55aa1234",
        "end",
    )
