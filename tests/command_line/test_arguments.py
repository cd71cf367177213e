"""Words of a command line: scons's targets and options in any order.

The tests also cover mistakes of users.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from n6build.__main__ import main
from n6build.base.caller import N6BUILD, called_as
from n6build.base.errors import N6Error
from n6build.cli.arguments import COMMANDS, SHOWN, Asked, read_call, read_words, shown_options
from n6build.describe.choices import Choices
from n6build.describe.option import options_of
from n6build.describe.project_settings import check_effect, check_files, resolve, uses
from n6build.describe.targets import TARGETS


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)


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
        (["explian"], "N6-OPTION-003: no command 'explian'\n  hint: did you mean 'explain'?"),
        (["model="], "N6-OPTION-002: 'model=' has an empty value\n  hint: write for example model=miniresnet"),
        (["build", "model=a,,b"], "N6-OPTION-002: 'model=a,,b' has an empty value between its commas"),
        (["--quiet"], "N6-OPTION-019: no command and no model is given\n  hint: run n6build --help"),
        (["net.tflite"], "N6-MODEL-001: no model file or folder 'net.tflite'"),
        (["net.tflite", "model=keyword"], "N6-OPTION-019: two models are given: 'net.tflite' and 'model=keyword'"),
        (["help", "fash"], "N6-OPTION-003: no command 'fash'\n  hint: did you mean 'flash'?"),
        (["build", "dry=1"], "N6-OPTION-020: 'dry=1' has no effect on build\n  hint: use it with flash, flash-all"),
        (["gdb=1"], "N6-OPTION-020: 'gdb=1' has no effect on build\n  hint: use it with run"),
        (["flash", "until=text:x"], "N6-OPTION-020: 'until=text:x' has no effect on flash\n  hint: use it with run"),
        (["build", "mode=no-run"], "N6-OPTION-020: 'mode=no-run' has no effect on build\n  hint: use it with flash"),
        (["boards", "model=keyword"], "N6-OPTION-020: 'model=keyword' has no effect on boards\n  hint: omit it"),
        (["run", "inputs=nothere.npy"], "N6-OPTION-022: no file 'nothere.npy' for 'inputs'"),
        (["clean", "flash"], "N6-OPTION-019: unrecognized arguments: flash"),
        (["new"], "N6-OPTION-019: the following arguments are required: FOLDER\n"),
        (["new", "here", "modle=x"], "N6-OPTION-001: unknown option 'modle'\n  hint: did you mean 'model'?"),
        (["new", "here", "board="], "N6-OPTION-002: 'board=' has an empty value"),
        (["new", "here", "keyword"], "N6-OPTION-019: 'keyword' is neither a model nor an option"),
        (["new", "here", "net.tflite"], "N6-MODEL-001: no model file or folder 'net.tflite'"),
        (["matrix"], "N6-OPTION-019: target 'matrix' needs SCons\n  hint: run scons matrix"),
        (
            ["build", "--modle", "keyword"],
            "N6-OPTION-001: unknown option '--modle'\n  hint: did you mean 'mode' or 'model'?",
        ),
        (["build", "modle=keyword"], "N6-OPTION-001: unknown option 'modle'\n  hint: did you mean 'mode' or 'model'?"),
        (
            ["build", "--board"],
            "N6-OPTION-019: argument --board: expected one argument\n  hint: run n6build build --help",
        ),
        (["build", "-j", "0"], "N6-OPTION-019: argument -j/--jobs: '0' is not a number of steps from 1 to 1024"),
        (
            ["build", "doctor"],
            "N6-OPTION-019: 'doctor' is not a target for 'n6build build'\n  hint: run n6build doctor without other targets",
        ),
        (["boards", "flash"], "N6-OPTION-019: 'n6build boards' takes no targets"),
        (
            ["build", "shard=1/2"],
            "N6-OPTION-019: option 'shard' has no effect here\n  hint: run scons matrix shard=...",
        ),
        (["build", "fash"], "N6-OPTION-003: no target 'fash'\n  hint: did you mean 'flash'?"),
        (["build", "verbose=2"], "N6-OPTION-002: invalid value '2' for option 'verbose'"),
        (["build", "--verbose=2"], "N6-OPTION-002: invalid value '2' for option 'verbose'"),
        ([], "N6-OPTION-019: no command and no model is given\n  hint: run n6build --help"),
        (["plan", "build/nowhere.o", "--write", "p.json"], "N6-STEP-014: no step of this plan makes build/nowhere.o"),
    ],
    ids=" ".join,
)
def test_a_mistake_gets_one_clear_answer(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert f"error {message}" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] in ([], ["build"])


@pytest.mark.parametrize(
    "words", [["net.tflit"], ["build", "nte.tflite"], ["flash", "build", "folder/net.tflit"]], ids=" ".join
)
def test_a_misspelt_model_is_no_unknown_target(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder").mkdir()
    for file in ("net.tflite", "folder/net.tflite"):
        (tmp_path / file).touch()
    assert main(words) == 2
    said = capsys.readouterr().err
    assert f"error N6-MODEL-001: no model file or folder '{words[-1]}'" in said
    assert f"did you mean '{Path(words[-1]).parent / 'net.tflite'}'?" in said


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
    listed = {option.name for option in shown_options(command)}
    for option in SHOWN:
        assert (option.help.replace("scons ", "n6build ") in shown) == (option.name in listed), option.name
        # All other options have no effect here, or are for relocatable models and only have their names listed.
        if option.name not in listed:
            assert not uses(option, command) or re.search(rf"\b{option.name}\b", shown), option.name


def test_help_of_a_command_is_no_longer_than_what_it_uses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "boards"]) == 0
    assert "--board" not in capsys.readouterr().out
    assert main(["help", "build"]) == 0
    shown = capsys.readouterr().out
    assert "--inputs" not in shown
    assert "--until" not in shown
    # The help shows each command in the form that the reader used.
    assert "n6build boards" in shown
    assert "scons boards" not in shown


def test_a_model_file_alone_is_built(tmp_path: Path) -> None:
    for folder in ("described", "compiled", "empty"):
        (tmp_path / folder).mkdir()
    (tmp_path / "described/model.yaml").write_text("")
    (tmp_path / "compiled/network.c").write_text("")
    for model in ("net.tflite", "deep/net.onnx", "described", "compiled"):
        assert read_call([model]) == read_call(["build", f"model={model}"])
        assert read_call([model, "board=nucleo-n657", "run"]) == read_call(
            ["run", f"model={model}", "board=nucleo-n657"]
        )
    assert read_call(["a.tflite", "b.tflite"]).given == {"model": "a.tflite,b.tflite"}
    assert read_call(["--board", "nucleo-n657", "flash"]).goals == ("flash",)
    assert read_call(["model=keyword"]).goals == ("build",)
    # A product of a build is a target.
    assert read_call(["build", "build/net.tflite"]).goals == ("build/net.tflite",)
    with pytest.raises(N6Error, match="no command 'empty'"):
        read_call(["empty"])


@pytest.mark.parametrize("command", ["boards", "models", "doctor"])
def test_a_list_as_json_is_one_document(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    named = found["tools"] if command == "doctor" else found
    assert {"boards": "nucleo-n657", "models": "keyword", "doctor": "python"}[command] in {
        each["tool" if command == "doctor" else "name"] for each in named
    }


def test_an_error_is_part_of_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "model=nowhere", "--json"]) == 2
    shown = capsys.readouterr()
    assert json.loads(shown.out)["error"]["id"] == "N6-MODEL-001"
    assert "error N6-MODEL-001" in shown.err


def test_the_desk_and_habits_are_never_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "n6build.local.yaml").write_text("dry: '1'\ninputs: x.npy\n")
    for arguments in ({}, {"probe": "virtual", "console": "/dev/ttyACM0", "start": "ram"}):
        settings = resolve(arguments, {"N6BUILD_SVD": "a.svd"}, tmp_path)
        check_effect(settings, ("build",))
        check_files(settings, tmp_path)
    # The options that a host's targets use are unknown, and every pair of a matrix is run.
    for targets in (("their-target",), ("build/a.o",), ("matrix",)):
        check_effect(resolve({"until": "text:x"}, {}, tmp_path), targets)


def test_messages_name_the_program_that_was_called() -> None:
    error = N6Error("N6-X-001", "wrong", hint="scons ... loader=reloc flash programs it; scons matrix builds all")
    assert "hint: scons ... loader=reloc flash" in str(error)
    with called_as(N6BUILD):
        assert "hint: n6build ... loader=reloc flash programs it; scons matrix builds all" in str(error)
        assert error.as_dict()["hint"] == "n6build ... loader=reloc flash programs it; scons matrix builds all"


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
    assert main(["build", "--build", "file/build"]) == 2
    assert "file/build/.n6build/lock: error N6-FILE-001: cannot write: Not a directory" in capfd.readouterr().err
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert main(["boards"]) == 2
    assert "error N6-FILE-002: cannot read the working directory: No such file" in capfd.readouterr().err


def test_an_interrupted_call_says_that_the_same_call_continues(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("n6build.cli.main._begin", interrupt)
    assert main(["build"]) == 130
    assert capsys.readouterr().err == "interrupted: finished steps are kept, and the same call continues\n"
