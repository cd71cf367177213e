"""The NPU's registers on the virtual board.

They answer as a runtime expects at its start. The NPU reports missing clocks and the reason why
work cannot be done.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from firmware_build import BOARD
from n6build.board.virtual_board.run import RunResult

from virtual_board.small_programs import boot_program, line_of

# A single engine reads, and nothing uses its stream.
WORK = "The NPU cannot do its work: no stream engine writes to memory, so the epoch never ends"


def run(tmp_path: Path, *defines: str) -> RunResult:
    return boot_program(tmp_path, "npu_registers.c", *defines)


def test_what_a_runtime_asks_is_answered_and_work_without_an_end_ends_the_run(tmp_path: Path) -> None:
    result = run(tmp_path)
    versions = [int(line.removeprefix("version="), 16) for line in result.lines if line.startswith("version=")]
    units = {
        units.first + number: units.version_word
        for units in BOARD.soc.npu.units.values()
        for number in range(units.count)
    }
    assert dict(enumerate(versions)) == units
    # ST's header has STRENG 5.0.
    assert versions[5] == 0x5001
    # A cleared unit is off at once.
    assert {"ctrl=0x00000000", "gates=0xffffffff"} <= set(result.lines)
    (finding,) = result.findings
    assert finding.kind == "npu-work"
    assert WORK in finding.text
    assert str(finding).startswith(line_of("npu_registers.c", "/* WORK */"))
    assert "end" not in result.lines
    assert result.ended == "exited"


@pytest.mark.parametrize(
    ("define", "expected"),
    [
        # All written units are reported.
        (
            "CLOCKED=0",
            {
                "SWITCH": "STRSWITCH is written while CLKCTRL is off, and the NPU has no clocks: set CLKCTRL CTRL EN first",
                "CONVOLUTION": "CONVACC2 is written while CLKCTRL is off, and the NPU has no clocks: set CLKCTRL CTRL EN first",
                "WORK": "STRENG0 is written while CLKCTRL is off, and the NPU has no clocks: set CLKCTRL CTRL EN first",
            },
        ),
        (
            "A_GATES=0x7u",
            {"SWITCH": "STRSWITCH is written while its clock gate is closed: open it first (CLKCTRL AGATES0, bit 3)"},
        ),
        (
            "B_GATES=0xEFFFu",
            {
                "CONVOLUTION": "CONVACC2 is written while its clock gate is closed: open it first (CLKCTRL BGATES, bit 12)"
            },
        ),
    ],
)
def test_a_unit_that_is_used_without_its_clock_is_a_finding(
    tmp_path: Path, define: str, expected: dict[str, str]
) -> None:
    *clocks, work = run(tmp_path, define).findings
    assert WORK in work.text
    assert [finding.kind for finding in clocks] == ["npu"] * len(expected)
    for finding, (mark, text) in zip(clocks, expected.items(), strict=True):
        assert text in finding.text
        assert str(finding).startswith(line_of("npu_registers.c", f"/* {mark} */"))
