"""The reasons why a program does not go on.

They are waits, assertions, faults, loops and full stacks.
"""

from __future__ import annotations

from pathlib import Path

from firmware_build import BOARD
from n6build.board.run.stops import stops_of
from n6build.board.virtual_board.run import Limits

from virtual_board.small_programs import build_alone, line_of, run_alone

SOON = Limits(3_000_000, 2_000_000)


def explained(folder: Path, does: str, *, ended_early: bool = True) -> list[str]:
    result = run_alone(folder, "stops.c", f"DOES={does}", limits=SOON)
    elf = build_alone(folder, "stops.c", f"DOES={does}")
    return [f"{each.verb} {each.text}" for each in stops_of(BOARD, [elf], result, ended_early=ended_early)]


def at(text: str) -> str:
    return line_of("stops.c", text)


def test_a_polled_bit_is_named(tmp_path: Path) -> None:
    (line,) = explained(tmp_path, "WAIT_FOR_BIT")
    assert line.startswith("Waits 0x56028004 RCC SR, bit PLL4RDY: reads 0x")
    assert "times since instruction " in line
    assert f"at {at('/* BIT */')}wait_for_bit()" in line
    assert "no model" not in line


def test_a_register_without_a_model_is_named(tmp_path: Path) -> None:
    (line,) = explained(tmp_path, "WAIT_FOR_UNMODELLED")
    assert line.startswith("Waits 0x54020004 RNG ")
    assert "bit 0" in line or "bit DRDY" in line
    assert "the virtual board has no model of this register" in line


def test_registers_that_are_read_in_turn_are_all_named(tmp_path: Path) -> None:
    lines = explained(tmp_path, "POLL_TWO")
    assert any("RCC SR, bit PLL3RDY" in line for line in lines)


def test_a_variable_that_does_not_change_is_named(tmp_path: Path) -> None:
    lines = explained(tmp_path, "WAIT_FOR_VARIABLE")
    assert "and reads frame_count in memory, which does not change" in lines[0]
    assert "wait_for_frame()" in lines[0]
    assert any(line.startswith("Called from") and "reset()" in line for line in lines)


def test_a_sleep_names_the_interrupts(tmp_path: Path) -> None:
    lines = explained(tmp_path, "SLEEP")
    assert "it sleeps at" in lines[0]
    assert "enabled interrupts: USART1" in lines[0]


def test_an_assertion_is_named_once(tmp_path: Path) -> None:
    lines = explained(tmp_path, "ASSERT", ended_early=False)
    assert lines[0] == "Stopped assertion at input.c:42 in check_input(): value == 3"
    assert "check_input()" in lines[1]
    assert at("/* INPUT */") in lines[2]
    assert not any("abort" in line for line in lines)


def test_an_error_handler_has_its_arguments(tmp_path: Path) -> None:
    lines = explained(tmp_path, "CALL_ERROR_HANDLER", ended_early=False)
    assert lines[0] == 'Stopped Error_Handler() is called with status=0x7, part="camera"'
    assert at("/* ERROR */") in lines[1]


def test_abort_has_its_caller(tmp_path: Path) -> None:
    lines = explained(tmp_path, "ABORT", ended_early=False)
    assert lines[0] == "Stopped abort() is called"
    assert "reset()" in lines[1]


def test_a_fault_is_unwound_to_its_place(tmp_path: Path) -> None:
    lines = explained(tmp_path, "FAULT", ended_early=False)
    assert lines[0].startswith("Stopped HardFault: the access to 0x20100000 fails (CFSR 0x00008200, HFSR 0x40000000")
    assert at("/* HOLE */") in lines[1]
    assert lines[1].endswith("where the exception came")
    assert "read_twice()" in lines[2]
    assert at("/* TWICE */") in lines[3]


def test_an_endless_loop_is_found(tmp_path: Path) -> None:
    lines = explained(tmp_path, "LOOP")
    assert lines[0].startswith("Stopped an endless loop at ")
    assert at("/* LOOP */") in lines[0]


def test_a_stack_below_its_limit(tmp_path: Path) -> None:
    lines = explained(tmp_path, "OVERFLOW", ended_early=False)
    assert "stack overflow: the stack pointer is below its limit" in lines[0]
    assert any("recurse()" in line for line in lines[1:])


def test_a_stack_in_variables(tmp_path: Path) -> None:
    lines = explained(tmp_path, "OVERFLOW_INTO_VARIABLES")
    assert any("stack overflow: the stack pointer 0x" in line and "table+0x" in line for line in lines)


def test_a_run_that_reached_its_goal_explains_no_wait(tmp_path: Path) -> None:
    assert explained(tmp_path, "WAIT_FOR_BIT", ended_early=False) == []
