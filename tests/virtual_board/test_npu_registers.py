"""The NPU of the virtual board: it answers as a runtime expects at its start, and says so when it is given work."""

from __future__ import annotations

from pathlib import Path

from firmware_build import BOARD, build_fsbl, image_of
from n6build.formats.boot_header import BinaryType

from virtual_board.test_findings import PROGRAMS, boot, line_of


def test_what_a_runtime_asks_is_answered_and_work_ends_the_run(tmp_path: Path) -> None:
    elf = build_fsbl(tmp_path, PROGRAMS / "npu_registers.c", [])
    result = boot(tmp_path, {BOARD.slots.fsbl.address: image_of(elf, BinaryType.FSBL)}, [elf])
    versions = [int(line.removeprefix("version="), 16) for line in result.lines if line.startswith("version=")]
    units = {
        units.first + number: units.version_word
        for units in BOARD.soc.npu.units.values()
        for number in range(units.count)
    }
    assert dict(enumerate(versions)) == units
    # STRENG 5.0, as ST's header has it.
    assert versions[5] == 0x5001
    assert {"ctrl=0x00000001", "gates=0xffffffff"} <= set(result.lines)
    (finding,) = result.findings
    assert finding.kind == "npu"
    assert "the NPU is given work, and the virtual board's does not compute" in finding.text
    assert str(finding).startswith(line_of("npu_registers.c", "/* WORK */"))
    assert "end" not in result.lines
    assert result.ended == "timeout"
