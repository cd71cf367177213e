"""Glitches of the virtual board: one skipped instruction, one flipped bit."""

from __future__ import annotations

from pathlib import Path

import pytest
from elf_symbols import symbols_of
from elftools.elf.elffile import ELFFile
from emulator_runs import run_program
from firmware_build import BOARD
from n6build.base.errors import N6Error
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.run import Limits, RunResult

from virtual_board.small_programs import build_alone

FLAGS, Z = 16, 30
SUM = 3 + 16 + 32 + 128


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_alone(tmp_path_factory.mktemp("glitch"), "glitch.c")


def address_of(program: Path, label: str) -> int:
    with program.open("rb") as file:
        return next(int(each["st_value"]) & ~1 for each in symbols_of(ELFFile(file)) if each.name == label)


def run(program: Path, label: str, *numbers: int) -> RunResult:
    glitch = (address_of(program, label), *numbers) if label else numbers
    return run_program(find_emulator(BOARD.soc), program, limits=Limits(1_000_000, glitch=glitch))


@pytest.mark.parametrize(
    ("label", "numbers", "expected"),
    [
        ("", (), SUM),
        ("at_add", (1, 2), SUM - 1),
        ("at_add", (3, 2), SUM - 1),
        ("at_wide", (1, 4), SUM - 128),
        # The other instructions of an IT block keep their conditions.
        ("at_first", (1, 2), SUM - 16),
        ("at_last", (1, 2), SUM - 32),
        # The sum is 2 before its third addition.
        ("at_add", (3, 0, 3), SUM + 8),
        ("at_add", (3, 0, 1), SUM - 2),
        # The loop ends after one turn, and the comparison then finds another number.
        ("at_branch", (1, FLAGS, Z), 1 + 64 + 128),
        # It is executed three times.
        ("at_add", (4, 2), SUM),
    ],
)
def test_one_execution_is_skipped_or_one_bit_flips(
    program: Path, label: str, numbers: tuple[int, ...], expected: int
) -> None:
    assert run(program, label, *numbers).exit_code == expected


def test_the_state_before_a_glitch_is_a_stop(program: Path) -> None:
    stops = run(program, "at_add", 3, 0, 3).stops.functions
    assert [(state.registers[15], state.registers[0]) for state in stops] == [(address_of(program, "at_add"), 2)]
    assert run(program, "at_add", 4, 0, 3).stops.functions == ()


@pytest.mark.parametrize("numbers", [(1,), (1, 3), (0, 2), (1, 15, 0), (1, 0, 32), (1, FLAGS, 0)])
def test_an_impossible_glitch_is_refused(program: Path, numbers: tuple[int, ...]) -> None:
    with pytest.raises(N6Error, match="N6-VB-006: the emulator ended: .*Property glitch is ADDRESS"):
        run(program, "at_add", *numbers)
