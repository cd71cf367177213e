"""An NPU epoch in a program: findings name it.

A program that waits for the NPU's interrupt without enabling it is reported, long before the run is
given up.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from firmware_build import BOARD, build_fsbl, image_of, write_nor
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.run import Limits, NorBoot, RunResult, run_nor
from n6build.describe.formats.boot_header import BinaryType

from virtual_board.test_findings import PROGRAMS, line_of

# An idle host executes more than this in a second.
SOON = Limits(40_000_000)
DONE = "the NPU is done (INTCTRL INTREG 0x00000020), and the program does not look at it: "


def run(tmp_path: Path, *defines: str) -> RunResult:
    elf = build_fsbl(tmp_path, PROGRAMS / "npu_copy.c", [f"-D{define}" for define in defines])
    nor = write_nor(tmp_path / "nor.bin", {BOARD.slots.fsbl.address: image_of(elf, BinaryType.FSBL)})
    stop = ("end", "n6 fault")
    return run_nor(
        find_emulator(BOARD.soc),
        NorBoot(nor, BOARD),
        programs=[elf],
        stop=lambda line: line.startswith(stop),
        limits=SOON,
    )


def test_a_line_that_nobody_cleaned_is_found_with_the_place_of_the_epoch(tmp_path: Path) -> None:
    result = run(tmp_path, "CLEANS=0")
    (finding,) = result.findings
    assert finding.kind == "stale-cache"
    assert re.search(
        r"the NPU reads 2 stale cache lines, the first at 0x[0-9a-f]{8}: not cleaned since the CPU wrote them "
        r"\(place 3 of network 1\)$",
        finding.text,
    )
    assert str(finding).startswith(line_of("npu_copy.c", "/* WORK */"))


def test_an_interrupt_that_is_let_through_comes(tmp_path: Path) -> None:
    result = run(tmp_path)
    assert result.findings == ()
    assert result.lines[-1] == "end last=64"


@pytest.mark.parametrize(
    ("define", "why"),
    [
        ("ENABLES=0", "the NVIC does not let its interrupt 53 (NPU0) through (ISER)"),
        pytest.param(
            "MASK=0xFFFFFFFFu",
            "INTORMSK and INTANDMSK let it through on none of its lines",
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
