"""Profile of a run: shares of functions, uses of models, and code that runs once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from firmware_build import BOARD
from n6build.base.errors import N6Error
from n6build.board.virtual_board.build import find_emulator
from n6build.board.virtual_board.profile import Profile, profile_lines, read_profile
from n6build.board.virtual_board.run import NorBoot, RunResult, run_emulator
from n6build.steps.run_files import profiled, run_outputs

from virtual_board.small_programs import build_alone

# polls.c has two loops of 3,000,000 and of 1,000,000 instructions.
COMPUTED = 4_000_000
POLLS = 1_000_000
ONCE = 200_000


def run(folder: Path, does: str, *, is_profiled: bool = True) -> tuple[RunResult, Profile | None]:
    elf, raw = build_alone(folder, "polls.c", f"DOES={does}"), folder / "profile.raw"
    arguments = ["-kernel", str(elf), "-semihosting-config", "enable=on,target=native"]
    machine = f"profile={raw}" if is_profiled else ""
    result = run_emulator(find_emulator(BOARD.soc), machine, arguments, [elf], lambda _: False)
    return result, read_profile(raw, [elf], BOARD.soc) if is_profiled else None


def profile_of(folder: Path, does: str) -> Profile:
    _, profile = run(folder, does)
    assert profile
    return profile


def test_each_function_has_its_share_of_instructions(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, "COMPUTES")
    shares = {each.name: each.instructions / profile.instructions for each in profile.functions}
    assert profile.instructions == pytest.approx(COMPUTED, rel=0.001)
    assert sum(each.instructions for each in profile.functions) == profile.instructions
    assert shares["three_of_four"] == pytest.approx(0.75, abs=0.005)
    assert shares["one_of_four"] == pytest.approx(0.25, abs=0.005)
    assert [each.name for each in profile.functions][:2] == ["three_of_four", "one_of_four"]


def test_two_runs_have_the_same_counts(tmp_path: Path) -> None:
    first, second = (profile_of(tmp_path, "POLLS") for _ in range(2))
    counts = [
        (
            [(each.name, each.instructions, each.blocks, each.translated) for each in profile.functions],
            [(each.name, each.reads, each.writes) for each in profile.models],
        )
        for profile in (first, second)
    ]
    assert counts[0] == counts[1]


def test_a_run_is_the_same_with_and_without_a_profile(tmp_path: Path) -> None:
    with_profile, _ = run(tmp_path, "POLLS_WITHOUT_CLOCK")
    without, _ = run(tmp_path, "POLLS_WITHOUT_CLOCK", is_profiled=False)
    assert replace(with_profile, lines=()) == replace(without, lines=())


def test_models_are_counted_by_block(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, "POLLS")
    hottest = profile.models[0]
    assert (hottest.name, hottest.reads, hottest.writes) == ("RCC", POLLS, 0)
    assert hottest.host_ns > 0
    assert profile.functions[0].name == "poll"
    text = "\n".join(profile_lines(profile))
    assert f"{POLLS:,}" in text
    assert "RCC" in text
    assert "most of it ran once" not in text


def test_a_finding_at_each_access_is_written_once(tmp_path: Path) -> None:
    result, profile = run(tmp_path, "POLLS_WITHOUT_CLOCK")
    assert profile
    assert [finding.kind for finding in result.findings] == ["clock-off"]
    assert profile.models[0].reads == POLLS


def test_code_that_runs_once_is_named(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, "RUNS_ONCE")
    once = profile.functions[0]
    assert once.name == "once"
    # A sample ends a block early, so that its rest is translated once more.
    assert ONCE <= once.translated // 2 <= 1.2 * ONCE
    assert "most of it ran once" in profile_lines(profile)[-1]


def test_code_without_symbols_is_named_by_its_addresses(tmp_path: Path) -> None:
    run(tmp_path, "COMPUTES")
    profile = read_profile(tmp_path / "profile.raw", [], BOARD.soc)
    assert profile.functions[0].name == "0x34180400 to 0x341804FF, AXISRAM2"


def test_a_long_table_is_cut(tmp_path: Path) -> None:
    raw = tmp_path / "profile.raw"
    places = ", ".join(f"[{0x34000000 + 256 * number}, 1, 0, 0, 0]" for number in range(20))
    raw.write_text(
        f'{{"every": 1, "instructions": 20, "asleep": 7, "places": [[0, 0, 0, 0, 0], {places}], "models": []}}'
    )
    text = "\n".join(profile_lines(read_profile(raw, [], BOARD.soc)))
    assert "... 8 more in the file" in text
    assert "asleep for 7 units" in text
    assert "model of the board" not in text


@pytest.mark.parametrize("text", ["", "{", '{"every": 1}', "[]"])
def test_a_damaged_profile_is_an_error(tmp_path: Path, text: str) -> None:
    raw = tmp_path / "profile.raw"
    raw.write_text(text)
    with pytest.raises(N6Error, match="N6-VB-010"):
        read_profile(raw, [], BOARD.soc)


def test_only_the_wanted_profile_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    boot = NorBoot(tmp_path / "nor.bin", BOARD)
    output = tmp_path / "profile.json"
    assert run_outputs("build/run.json", "none") == ("build/run.json", "build/run.xml")
    assert run_outputs("build/run.json", "profile")[2:] == ("build/profile.json",)
    with profiled(boot, [tmp_path / "run.json"], []) as unchanged:
        assert unchanged == boot
    # The emulator has not started: an earlier profile is not taken for its own.
    (tmp_path / "profile.raw").write_text("an earlier one")
    with profiled(boot, [output], []):
        pass
    assert not output.exists()
    with profiled(boot, [output], []) as booted:
        assert booted.profile
        booted.profile.write_text('{"every": 1, "instructions": 0, "asleep": 0, "places": [], "models": []}')
    assert output.exists()
    assert "0 instructions" in capsys.readouterr().out
