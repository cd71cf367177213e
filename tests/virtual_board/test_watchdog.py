"""The watchdog IWDG, reset flags, fuses in a file, and power cuts of a NOR.

IWDG counts guest time by the LSI. A power cut happens in the middle of a write.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from emulator_runs import run_program
from firmware_build import BOARD, build, build_fsbl, image_of, write_nor
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.run import Limits, NorBoot, RunResult, run_nor
from n6build.describe.formats.boot_header import BinaryType

PROGRAMS = Path(__file__).parent / "programs"
SCRIPT = "SECTIONS { . = 0x34180400; .text : { KEEP(*(.vectors)) *(.text* .rodata*) } }"
POWER, WATCHDOG, PROGRAM = 1, 2, 4
OFFSET = 0x200000


def run(tmp_path: Path, does: str) -> RunResult:
    source = PROGRAMS / "watchdog.c"
    elf = build(tmp_path, "watchdog", [source], SCRIPT, [f"-DDOES={does}", "-Wl,--no-warn-rwx-segments"])
    return run_program(find_emulator(BOARD.soc), elf, limits=Limits(1_000_000_000))


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
    assert "lost write to the IWDG at 0x56004808: its key register does not hold 0x5555" in finding.text


def test_a_fuse_is_blown_in_the_file_that_is_given_for_it(tmp_path: Path) -> None:
    elf = build_fsbl(tmp_path, PROGRAMS / "says_hello.c", ["-DDOES=BLOW_A_FUSE"])
    nor = write_nor(tmp_path / "nor.bin", {BOARD.nor.base: image_of(elf, BinaryType.FSBL)})
    fuses = tmp_path / "fuses.bin"
    fuses.write_bytes(bytes(4 * 124) + (0x10000).to_bytes(4, "little"))
    result = run_nor(
        find_emulator(BOARD.soc),
        NorBoot(nor, BOARD, fuses=fuses),
        programs=[elf],
        stop=lambda line: line.startswith(("end", "n6 fault")),
    )
    assert (result.findings, "done fuse=0x00018000" in result.lines) == ((), True)
    assert fuses.read_bytes()[4 * 124 :][:4] == (0x18000).to_bytes(4, "little")


@pytest.mark.parametrize(
    ("cut", "programmed", "erased"), [(1, 0, 2048), (2, 2, 4096)], ids=["the erase", "the programming"]
)
def test_a_write_of_the_nor_is_cut_in_its_middle(tmp_path: Path, cut: int, programmed: int, erased: int) -> None:
    elf = build_fsbl(tmp_path, PROGRAMS / "nor_commands.c", ["-DDO=ERASE_AND_PROGRAM", "-DCOUNT=4u"])
    old = b"\x5a" * 4096
    nor = write_nor(
        tmp_path / "nor.bin",
        {BOARD.slots.fsbl.address: image_of(elf, BinaryType.FSBL), BOARD.nor.base + OFFSET: old},
    )
    result = run_nor(
        find_emulator(BOARD.soc),
        NorBoot(nor, BOARD, keeps_writes=True),
        programs=[elf],
        stop=lambda line: line.startswith(("end", "n6 fault")),
        limits=Limits(cut=cut),
    )
    assert result.ended == "cut"
    after = nor.read_bytes()[OFFSET : OFFSET + 4096]
    assert sum(byte not in (0xFF, 0x5A) for byte in after) == programmed
    assert after.count(b"\x5a") == 4096 - erased
