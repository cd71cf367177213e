"""Mistakes that cost days, each in a small program: found with the source line."""

from __future__ import annotations

from pathlib import Path

import pytest
from firmware_build import BOARD, build_appli, build_fsbl, image_of
from n6build.base.errors import N6Error
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.run import NorBoot, RunResult, run_nor
from n6build.describe.formats.boot_header import BASE, HEADER_BYTES, BinaryType

from virtual_board.small_programs import PROGRAMS, boot, boot_both, boot_program, line_of

WEIGHTS = bytes(range(1, 256)) * 17
SUM = sum(WEIGHTS[:4096])


def run_weights(tmp_path: Path, *defines: str) -> RunResult:
    more = {BOARD.slots.weights.address: WEIGHTS}
    return boot_program(tmp_path, "weights_to_npu.c", *(f"{define}=1" for define in defines), more=more)


def test_a_correct_program_has_no_findings(tmp_path: Path) -> None:
    result = run_weights(tmp_path)
    assert result.findings == ()
    assert f"sum={SUM}" in result.lines
    assert result.banks_on == ("AXISRAM3", "CACHEAXIRAM")
    assert result.cleaned == ((0x3420_0000, 0x3420_1000),)


FAULTS = [
    ("OMIT_MAP", "nor-not-mapped", "Read of the NOR at 0x71000000 faults: XSPI2 has no clock", "/* READ */"),
    (
        "OMIT_POWER",
        "ram-off",
        "Lost write to AXISRAM3 at 0x34200000, which is off (its clock in RCC MEMENR is 0)",
        "/* WRITE */",
    ),
    (
        "WRONG_ALIAS",
        "alias-open",
        "0x42023100 is the non-secure alias of RAMCFG_SRAM3: it works until RIF makes that secure, use 0x52023100",
        "N6_RAMCFG_SRAM3_CR - 0x1",
    ),
    ("EARLY_SWITCH", "clock", "The CPU is switched to IC1, which does not run (RCC CR, DIVENR)", "/* CPU */"),
    (
        "EARLY_BUSES",
        "clock",
        "The buses are switched to IC2, IC6 and IC11, which do not all run (RCC CR, DIVENR)",
        "/* BUSES */",
    ),
]


@pytest.mark.parametrize(("define", "kind", "text", "at"), FAULTS, ids=[f"{fault[0]}-{fault[1]}" for fault in FAULTS])
def test_is_found_at_its_line(tmp_path: Path, define: str, kind: str, text: str, at: str) -> None:
    result = run_weights(tmp_path, define)
    finding = next(finding for finding in result.findings if finding.kind == kind)
    assert finding.text == text
    assert finding.where.startswith(line_of("weights_to_npu.c", at))


def test_a_read_before_the_nor_is_mapped_ends_in_a_fault_that_says_where(tmp_path: Path) -> None:
    fault = next(line for line in run_weights(tmp_path, "OMIT_MAP").lines if line.startswith("n6 fault HardFault"))
    assert "cfsr=0x00008200" in fault
    assert "bfar=0x71000000" in fault


# Each byte of a bank that was not written since shutdown has this value. The bank's test has written two
# words, through the cache.
AFTER_SHUTDOWN = 0xDE
NPU_FAULTS = [
    (
        "OMIT_CLEAN",
        "stale-cache",
        "The NPU reads 128 stale cache lines, the first at 0x34200000: not cleaned since the CPU wrote them",
        (4096 - 8) * AFTER_SHUTDOWN,
    ),
    (
        "OMIT_RIF",
        "rif",
        "The NPU reads zeros from 0x34200000: RIF denies the access (RIFSC RIMC_ATTR1, SECCFGR3, PRIVCFGR3)",
        0,
    ),
]


@pytest.mark.parametrize(("define", "kind", "text", "read"), NPU_FAULTS, ids=[fault[0] for fault in NPU_FAULTS])
def test_an_npu_that_reads_no_weights_has_a_cause(tmp_path: Path, define: str, kind: str, text: str, read: int) -> None:
    result = run_weights(tmp_path, define)
    assert [(finding.kind, finding.text) for finding in result.findings] == [(kind, text)]
    assert f"sum={read}" in result.lines
    assert "test_npu.h:" in result.findings[0].where


def test_an_fsbl_that_copies_64_kb_whatever_the_appli_needs(tmp_path: Path) -> None:
    fsbl = build_fsbl(tmp_path, PROGRAMS / "fixed_copy_fsbl.c")
    appli = build_appli(tmp_path, PROGRAMS / "large_appli.c")
    image = image_of(appli, BinaryType.SSBL)
    result = boot_both(tmp_path, image_of(fsbl, BinaryType.FSBL), image, [fsbl, appli])
    (finding,) = result.findings
    assert finding.kind == "short-copy"
    table_end = image.rindex(42) + 1
    assert f"of its {len(image)} bytes were never copied to RAM" in finding.text
    assert int(finding.text.split()[6]) <= table_end - 0x10000
    assert finding.where.startswith("firmware/bring_up/")


@pytest.mark.parametrize(("copied", "is_short"), [(0x20000, False), (0x10000, True)])
@pytest.mark.parametrize("first", ["nothing", "longer", "shorter"])
def test_a_copy_is_compared_with_the_slot_that_was_started(
    tmp_path: Path, first: str, copied: int, is_short: bool
) -> None:
    """The Appli in the second slot runs, whatever is in the first one."""
    assert BOARD.trial is not None and BOARD.trial.appli is not None
    second = BOARD.trial.appli.address
    fsbl = build_fsbl(tmp_path, PROGRAMS / "fixed_copy_fsbl.c", [f"-DCOPIED={copied}u", f"-DFROM={second}u"])
    appli = build_appli(tmp_path, PROGRAMS / "large_appli.c")
    image = image_of(appli, BinaryType.SSBL)
    size = {"nothing": 0, "longer": len(image) + 40_000, "shorter": 20_000}[first]
    other = (
        image_of(build_appli(tmp_path / "other", PROGRAMS / "appli_behind_64_kb.c"), BinaryType.SSBL) if size else b""
    )
    other = other[:HEADER_BYTES] + bytes(range(1, 256)) * (size // 255)
    at = BASE.offset_of("image_bytes")
    other = other[:at] + max(0, len(other) - HEADER_BYTES).to_bytes(4, "little") + other[at + 4 :] if size else b""
    parts = {BOARD.slots.fsbl.address: image_of(fsbl, BinaryType.FSBL), second: image}
    result = boot(tmp_path, {**parts, **({BOARD.slots.appli.address: other} if size else {})}, [fsbl, appli])
    short = [finding.text for finding in result.findings if finding.kind == "short-copy"]
    assert [f"of its {len(image)} bytes" in text for text in short] == [True] * is_short
    assert ("last=42" in result.lines) == (not is_short)


def test_an_appli_that_was_not_copied_so_far_as_to_say_a_word(tmp_path: Path) -> None:
    fsbl = build_fsbl(tmp_path, PROGRAMS / "fixed_copy_fsbl.c")
    appli = build_appli(tmp_path, PROGRAMS / "appli_behind_64_kb.c")
    image = image_of(appli, BinaryType.SSBL)
    result = boot_both(tmp_path, image_of(fsbl, BinaryType.FSBL), image, [fsbl, appli])
    (finding,) = [finding for finding in result.findings if finding.kind == "short-copy"]
    assert f"the last {len(image) - 0x10000} of its {len(image)} bytes were never copied to RAM" in finding.text


def test_an_emulator_that_cannot_start_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(N6Error, match="N6-VB-006: the emulator ended: .*Cannot read the NOR's file"):
        run_nor(find_emulator(BOARD.soc), NorBoot(tmp_path / "none.bin", BOARD), programs=[], stop=lambda _: True)


def test_a_program_that_falls_silent_is_stopped_in_time(tmp_path: Path) -> None:
    result = boot_program(tmp_path, "weights_to_npu.c", stop=lambda _: False)
    assert result.ended == "silent"
    assert "end" in result.lines
