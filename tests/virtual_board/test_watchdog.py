"""The watchdog IWDG, reset flags, fuses in a file, and power cuts of a NOR.

IWDG counts guest time by the LSI. A power cut happens in the middle of a write.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from firmware_build import BOARD
from n6build.board.virtual_board.run import Limits, RunResult

from virtual_board.small_programs import boot_program, run_alone

POWER, WATCHDOG, PROGRAM = 1, 2, 4
OFFSET = 0x200000


def run(tmp_path: Path, does: str) -> RunResult:
    return run_alone(tmp_path, "watchdog.c", f"DOES={does}")


@pytest.mark.parametrize(
    ("does", "reason"),
    [
        ("NOTHING", POWER),
        ("RESET_ITSELF", PROGRAM),
        ("LET_EXPIRE", WATCHDOG),
        ("SLEEP_MASKED", WATCHDOG),
        ("RELOAD_IN_TIME", POWER),
        ("RELOAD_TOO_EARLY", WATCHDOG),
    ],
)
def test_a_start_knows_its_reason(tmp_path: Path, does: str, reason: int) -> None:
    result = run(tmp_path, does)
    assert (result.ended, result.exit_code, result.findings, result.unmodelled) == ("exited", reason, (), ())


def test_registers_are_written_behind_their_key_only(tmp_path: Path) -> None:
    result = run(tmp_path, "WITHOUT_KEY")
    assert result.exit_code == POWER
    (finding,) = result.findings
    assert (finding.kind, "programs/watchdog.c" in finding.where) == ("watchdog", True)
    assert "Write to the IWDG at 0x56004808 is lost: write 0x5555 to its key register first" in finding.text


def test_a_fuse_is_blown_in_the_file_that_is_given_for_it(tmp_path: Path) -> None:
    fuses = tmp_path / "fuses.bin"
    fuses.write_bytes(bytes(4 * 124) + (0x10000).to_bytes(4, "little"))
    result = boot_program(tmp_path, "says_hello.c", "DOES=BLOW_A_FUSE", fuses=fuses)
    assert (result.findings, "done fuse=0x00018000" in result.lines) == ((), True)
    assert fuses.read_bytes()[4 * 124 :][:4] == (0x18000).to_bytes(4, "little")


@pytest.mark.parametrize(
    ("cut", "programmed", "erased"), [(1, 0, 2048), (2, 2, 4096)], ids=["the erase", "the programming"]
)
def test_a_write_of_the_nor_is_cut_in_its_middle(tmp_path: Path, cut: int, programmed: int, erased: int) -> None:
    options: dict[str, Any] = {"more": {BOARD.nor.base + OFFSET: b"\x5a" * 4096}, "keeps_writes": True}
    options["limits"] = Limits(cut=cut)
    result = boot_program(tmp_path, "nor_commands.c", "DO=ERASE_AND_PROGRAM", "COUNT=4u", **options)
    assert result.ended == "cut"
    after = (tmp_path / "nor.bin").read_bytes()[OFFSET : OFFSET + 4096]
    assert sum(byte not in (0xFF, 0x5A) for byte in after) == programmed
    assert after.count(b"\x5a") == 4096 - erased
