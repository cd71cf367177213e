"""A program that the emulator starts itself: counts, ends, and places of faults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from emulator_runs import run_program
from firmware_build import BOARD
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.run import Limits, RunResult
from n6build.board.virtual_board.source_lines import symbols_of

from virtual_board.small_programs import build_alone, line_of, run_alone

EXIT_STATUS = 9


def line_with(text: str) -> str:
    return line_of("alone.c", text)


def run(tmp_path: Path, does: str, **limits: Any) -> RunResult:
    return run_alone(tmp_path, "alone.c", f"DOES={does}", **limits)


def test_a_program_ends_the_emulator_with_its_status(tmp_path: Path) -> None:
    result = run(tmp_path, "NOTHING")
    assert (result.ended, result.exit_code, result.findings) == ("exited", EXIT_STATUS, ())


def test_instructions_are_counted_and_nothing_else(tmp_path: Path) -> None:
    counts = {run(tmp_path, "NOTHING").instructions for _ in range(3)}
    assert len(counts) == 1
    assert 0 < counts.pop() < 100


def test_sleep_is_not_counted(tmp_path: Path) -> None:
    assert run(tmp_path, "SLEEP_FIRST").instructions < 200


def test_the_system_timer_ticks_with_each_instruction_as_the_cycle_counter_does(tmp_path: Path) -> None:
    assert run(tmp_path, "COMPARE_COUNTERS").exit_code == 0


@pytest.mark.parametrize("does", ["COUNT_WITHOUT_TRACE", "COUNT_DISABLED"])
def test_the_cycle_counter_counts_only_while_trace_and_counter_are_enabled(tmp_path: Path, does: str) -> None:
    assert run(tmp_path, does).exit_code == 0


def test_selecting_between_zero_and_a_register_changes_no_other_zero(tmp_path: Path) -> None:
    assert run(tmp_path, "SELECT_ZERO").exit_code == 0


def test_a_timer_has_its_clock_and_prescaler(tmp_path: Path) -> None:
    assert run(tmp_path, "COMPARE_TIMER").exit_code == 0


def test_ram_outlives_a_system_reset_and_registers_do_not(tmp_path: Path) -> None:
    result = run(tmp_path, "RESET_ONCE")
    assert (result.exit_code, result.findings) == (0, ())


def test_a_pll_out_of_range_never_locks(tmp_path: Path) -> None:
    result = run(tmp_path, "START_BAD_PLL")
    assert result.exit_code == 0
    (finding,) = result.findings
    assert finding.kind == "clock"
    assert "PLL1 does not lock: its oscillator, input times DIVN, is out of range" in finding.text
    assert "oscillator at 12000000000 Hz" in finding.text


def test_what_no_model_answers_is_kept_and_counted(tmp_path: Path) -> None:
    result = run(tmp_path, "TOUCH_UNMODELLED")
    assert result.exit_code == 0
    (register,) = result.unmodelled
    assert (register.address, register.reads, register.writes) == (0x5402_0000, 1, 2)
    assert register.where.startswith(line_with("/* WRITE */"))


@pytest.mark.parametrize(
    ("limits", "ended"),
    [
        (Limits(1_000_000, None), "timeout"),
        (Limits(None, 1_000_000), "silent"),
        (Limits(2_000_000, 1_000_000), "silent"),
    ],
)
def test_a_program_without_end_is_ended_at_its_limit_to_the_instruction(
    tmp_path: Path, limits: Limits, ended: str
) -> None:
    result = run(tmp_path, "LOOP_FOR_EVER", limits=limits)
    assert (result.ended, result.exit_code, result.instructions) == (ended, None, 1_000_000)


def test_a_run_ends_in_front_of_an_instruction(tmp_path: Path) -> None:
    elf = build_alone(tmp_path, "alone.c", "DOES=NOTHING")
    symbols = symbols_of(elf)
    limits = Limits(1_000_000, until=symbols["reset"] | 1)
    result = run_program(find_emulator(BOARD.soc), elf, limits=limits)
    assert (result.ended, result.exit_code, result.instructions, result.findings) == ("until", None, 0, ())
    assert result.at.endswith("in reset()")


def test_who_sleeps_for_ever_is_at_the_limit_at_once(tmp_path: Path) -> None:
    """An emulator that waited for years of guest time would not end."""
    result = run(tmp_path, "SLEEP_FOR_EVER", limits=Limits(1_000_000_000 * 86400 * 365))
    assert result.ended == "silent"
    assert result.instructions < 100


@pytest.mark.parametrize("does", ["FAULT_WITHOUT_HANDLER", "FAULT_IN_HANDLER"])
def test_lockup_is_a_finding_at_the_first_fault(tmp_path: Path, does: str) -> None:
    result = run(tmp_path, does)
    (lockup,) = [finding for finding in result.findings if finding.kind == "lockup"]
    assert lockup.where.startswith(line_with("/* FAULT */"))
    assert result.ended == "exited"
    assert result.exit_code != 0
    assert result.instructions > 0


def test_an_instruction_that_ends_in_registers_does_not_end_the_emulator(tmp_path: Path) -> None:
    result = run_alone(tmp_path, "alone.c", "DOES=RUN_INTO_REGISTERS", limits=Limits(200_000))
    assert result.ended in ("timeout", "exited")
    assert result.findings[0].kind == "ram-off"


def test_a_jump_to_nowhere_is_found_where_it_comes_from(tmp_path: Path) -> None:
    first = run(tmp_path, "JUMP_NOWHERE").findings[0]
    assert (first.kind, first.text) == ("hole", "Jump to 0x20200000, where nothing is")
    assert " in reset()" in first.where


@pytest.mark.parametrize(
    ("does", "kind", "text"),
    [
        ("SPEAK_WITHOUT_PIN", "console", "USART1 is written while no pin is set to it (GPIO MODER, AFRL or AFRH)"),
        (
            "SPEAK_WITHOUT_CLOCK",
            "clock-off",
            "USART1 at 0x52001028 has no clock, so the access is lost (on the chip, it may hang): enable its clock first",
        ),
    ],
)
def test_a_console_that_would_be_silent(tmp_path: Path, does: str, kind: str, text: str) -> None:
    result = run(tmp_path, does)
    assert (kind, text) in [(finding.kind, finding.text) for finding in result.findings]
    finding = next(finding for finding in result.findings if finding.text == text)
    assert finding.where.startswith(line_with("/* SPEAK */"))
    assert result.lines == ()
