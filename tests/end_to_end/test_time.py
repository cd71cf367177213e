"""scons's estimate of a network's time on boards that were not measured."""

from __future__ import annotations

import json

import pytest
from n6build.base.errors import N6Error
from n6build.describe.choices import Choices
from n6build.steps.goal_checks import check_goals
from n6build.steps.job import boards_of

from end_to_end.conftest import Project


def test_target_time_says_what_to_expect_of_every_board_without_a_compiler_for_the_firmware(project: Project) -> None:
    result = project.done("time", "board=all", "clock=nominal", "flash=200", "model=keyword")
    assert [verb for verb in result.actions if verb.startswith(("Compile", "Link", "Flash"))] == []
    assert "The best single changes" in result.output
    assert "instructions are not counted: add target run" in result.output
    (path,) = (project.root / "build").glob("nucleo-n657/keyword/time.json")
    found = json.loads(path.read_text())
    assert [each["board"] for each in found] == ["nucleo-n657", "openmv-n6", "stm32n6570-dk"]
    for each in found:
        time = each["time"]
        assert time["at"]["cpu_hz"] == 600_000_000
        assert all(epoch["low"] <= epoch["ms"] for epoch in time["epochs"])
        # The CPU reads the weights from the flash, at an unknown speed: the range is wide, and it has an end.
        assert time["high"] > 2 * time["low"] > 0
        assert any("as the board is described, not at 200 MHz" in note for note in time["notes"])


def test_what_means_nothing_to_a_target_is_refused() -> None:
    with pytest.raises(N6Error, match="error N6-TIME-004: "):
        check_goals(Choices(board="all"), {"time", "flash"})


def test_all_boards_begin_with_the_one_that_networks_are_compiled_for() -> None:
    assert boards_of(Choices(board="all"))[0] == Choices().board
    assert boards_of(Choices(board="openmv-n6")) == ("openmv-n6",)
