"""The words of a command line: the same targets and options as with scons, in any order, and what a user may do wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from n6build.__main__ import main
from n6build.base.errors import N6Error
from n6build.command_line.arguments import COMMANDS, Asked, read_words
from n6build.options.choices import Choices, Invocation
from n6build.options.option import options_of
from n6build.options.targets import TARGETS


def test_targets_and_options_in_any_order_and_either_form() -> None:
    words = ["model=keyword", "--board", "nucleo-n657", "run", "--parse-only=1", "split=1", "-j2", "build/a.bin"]
    assert read_words("flash", words) == Asked(
        "flash",
        ("flash", "run", "build/a.bin"),
        {"model": "keyword", "board": "nucleo-n657", "parse_only": "1", "split": "1"},
        build="build",
        jobs=2,
        write=None,
    )


def test_a_plan_is_of_the_targets_behind_it() -> None:
    asked = read_words("plan", ["--write", "plan.json", "flash", "run"])
    assert (asked.goals, asked.write) == (("flash", "run"), Path("plan.json"))
    assert read_words("plan", []).goals == ()


def test_a_value_may_hold_an_equals_sign() -> None:
    assert read_words("run", ["until=text:a=b", "--name="]).given == {"until": "text:a=b", "name": ""}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fash"], "N6-OPTION-003: no command 'fash'\n  hint: did you mean 'flash'?"),
        (["proove"], "N6-OPTION-003: no command 'proove'\n  hint: did you mean 'prove'?"),
        (
            ["model=keyword"],
            "N6-OPTION-019: 'model=keyword' is not something to do\n  hint: begin with it: n6build build",
        ),
        (["matrix"], "N6-OPTION-019: target 'matrix' is built by SCons\n  hint: scons matrix"),
        (
            ["build", "--modle", "keyword"],
            "N6-OPTION-001: unknown option '--modle'\n  hint: did you mean 'mode' or 'model'?",
        ),
        (["build", "modle=keyword"], "N6-OPTION-001: unknown option 'modle'\n  hint: did you mean 'mode' or 'model'?"),
        (["build", "--board"], "N6-OPTION-019: argument --board: expected one argument\n  hint: n6build build --help"),
        (["build", "-j", "0"], "N6-OPTION-019: argument -j/--jobs: '0' is not a number of steps from 1 to 1024"),
        (
            ["build", "doctor"],
            "N6-OPTION-019: 'doctor' is not a target for 'n6build build'\n  hint: n6build doctor, alone",
        ),
        (["boards", "flash"], "N6-OPTION-019: 'n6build boards' takes no targets"),
        (["build", "shard=1/2"], "N6-OPTION-019: option 'shard' has no effect here\n  hint: scons shard=..."),
        (["build", "fash"], "N6-OPTION-003: no target 'fash'\n  hint: did you mean 'flash'?"),
        (["build", "verbose=2"], "N6-OPTION-002: 'verbose=2' is not possible"),
        (["build", "--verbose=2"], "N6-OPTION-002: 'verbose=2' is not possible"),
        ([], "N6-OPTION-019: nothing to do is named\n  hint: n6build --help"),
        (["plan", "build/nowhere.o", "--write", "p.json"], "N6-STEP-014: no step of this plan makes build/nowhere.o"),
    ],
    ids=" ".join,
)
def test_a_mistake_gets_one_clear_answer(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    assert f"error {message}" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] in ([], ["build"])


def test_the_overview_names_every_target_that_needs_no_scons(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for name in COMMANDS:
        assert f"\n  {name} " in shown
    assert {*TARGETS} - {*COMMANDS} == {"matrix"}


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help_made_from_the_tables(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert TARGETS[command] in shown
    for option in (*options_of(Choices), *options_of(Invocation)):
        of_scons = {"adopt", "boards", "models", "shard"}
        assert (option.help in shown) == (option.name not in of_scons), option.name


def test_files_behind_build_are_built_alone() -> None:
    assert read_words("build", []).goals == ("build",)
    assert read_words("build", ["build/a.o", "build/b.o"]).goals == ("build/a.o", "build/b.o")
    assert read_words("build", ["build/a.o", "flash"]).goals == ("build", "build/a.o", "flash")


def test_an_option_of_scons_alone_is_refused_only_if_it_is_typed() -> None:
    assert "shard" not in read_words("build", []).given
    with pytest.raises(N6Error, match="shard"):
        read_words("build", ["--shard", "1/2"])


_WORDS = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["--", "-", "-j", "-j4", "--jobs", "--build=", "--board", "--write", "build", "a=b", "=", "%s", "\0", "\udcff"]
    ),
    st.sampled_from([f"--{option.name}" for option in options_of(Choices)]),
)


@given(st.sampled_from([*COMMANDS, "", "stepp"]), st.lists(_WORDS, max_size=6))
@example("build", ["--", "--board", "x=y"])
def test_whatever_is_typed_is_understood_or_refused(command: str, words: list[str]) -> None:
    with suppress(N6Error):
        asked = read_words(command, [word for word in words if not word.startswith("-h") and "--help" not in word])
        assert asked.command == command
        assert not [goal for goal in asked.goals if "=" in goal]


def test_a_reader_that_has_gone_ends_the_command_quietly(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "n6build", "boards"]
    result = subprocess.run(command, cwd=tmp_path, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (result.returncode, result.stderr) == (141, "")


def test_folders_that_cannot_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.chdir(tmp_path)
    assert main(["build", "--build", "file/build"]) == 2
    assert "file/build/.n6build/lock: error N6-FILE-001: cannot write: Not a directory" in capfd.readouterr().err
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert main(["boards"]) == 2
    assert "error N6-FILE-002: cannot read the working directory: No such file" in capfd.readouterr().err
