"""An NPU epoch in a program: findings name it.

A program that waits for the NPU's interrupt without enabling it is reported, long before the run is
given up.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from n6build.board.virtual_board.run import Limits, RunResult

from virtual_board.small_programs import boot_program, line_of

# An idle host executes more than this in a second.
SOON = Limits(40_000_000)
DONE = "The NPU is done (INTCTRL INTREG 0x00000020), but the program does not handle it: "


def run(tmp_path: Path, *defines: str) -> RunResult:
    return boot_program(tmp_path, "npu_copy.c", *defines, limits=SOON)


def test_a_line_that_nobody_cleaned_is_found_with_the_place_of_the_epoch(tmp_path: Path) -> None:
    result = run(tmp_path, "CLEANS=0")
    (finding,) = result.findings
    assert finding.kind == "stale-cache"
    assert re.search(
        r"The NPU reads 2 stale cache lines, the first at 0x[0-9a-f]{8}: not cleaned since the CPU wrote them "
        r"\(place 3 of network 1\)$",
        finding.text,
    )
    assert str(finding).startswith(line_of("npu_copy.c", "/* WORK */"))


def test_a_read_into_a_bank_that_is_off_names_that_bank(tmp_path: Path) -> None:
    """The read begins in a bank that is on; the NPU gets its bytes, then zeros."""
    result = run(tmp_path, "OVER_THE_END")
    (finding,) = result.findings
    assert finding.kind == "ram-off"
    assert finding.text == "The NPU uses AXISRAM4 at 0x34270000, which is off (place 3 of network 1)"
    assert result.lines[-1] == "end last=0 half=32"


def test_an_interrupt_that_is_let_through_comes(tmp_path: Path) -> None:
    result = run(tmp_path)
    assert result.findings == ()
    assert result.lines[-1] == "end last=64 half=32"


@pytest.mark.parametrize(
    ("define", "why"),
    [
        ("ENABLES=0", "its interrupt 53 (NPU0) is not enabled in the NVIC (ISER)"),
        pytest.param(
            "MASK=0xFFFFFFFFu",
            "INTORMSK and INTANDMSK mask it on all of its lines",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "HOLDS_BACK=1",
            "PRIMASK, FAULTMASK, BASEPRI or another handler holds back its interrupt 53 (NPU0)",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_an_interrupt_that_is_not_is_told_with_the_reason(tmp_path: Path, define: str, why: str) -> None:
    result = run(tmp_path, define)
    (finding,) = result.findings
    assert finding.kind == "npu-interrupt"
    assert DONE + why in finding.text
    assert str(finding).startswith(line_of("npu_copy.c", "/* WORK */"))
    assert result.ended == "timeout"
