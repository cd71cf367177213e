"""Completion in a shell: by the shell's protocol, and typed into a real bash."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from n6build.__main__ import main
from n6build.cli.completion import SHELLS, script
from n6build.cli.new import KINDS
from n6build.cli.overview import OWN_COMMANDS
from n6build.describe.hardware.boards import known_boards
from n6build.describe.model import known_models
from n6build.describe.targets import TARGETS
from patience import NET_S

ROOT = Path(__file__).resolve().parents[2]
# These are the word breaks of bash.
BREAKS = " \t\n\"'><=;|&(:"


def completions(line: str, folder: Path) -> list[str]:
    """Return the completions of the line's last word, or of its part after a `=`."""
    answer = folder / ".answer"
    asked = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_SHELL": "bash",
        "_ARGCOMPLETE_COMP_WORDBREAKS": BREAKS,
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "COMP_TYPE": "9",
    }
    command = [sys.executable, "-m", "n6build"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(ROOT / "site_scons"), **asked}
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    return [each.strip() for each in answer.read_text().split("\v")]


def test_commands(tmp_path: Path) -> None:
    assert set(completions("n6build ", tmp_path)) >= {*TARGETS, *OWN_COMMANDS, "help", "--version"} - {"matrix"}
    assert completions("n6build help pro", tmp_path) == ["probe-server", "prove"]
    assert completions("n6build new here --with ", tmp_path) == [*KINDS]
    assert completions("n6build flash-m", tmp_path) == ["flash-model"]
    assert completions("n6build --print-completion ", tmp_path) == [*SHELLS]


def test_targets_and_options_in_either_form(tmp_path: Path) -> None:
    found = completions("n6build flash ", tmp_path)
    assert {"run", "report", "board=", "model=", "--board", "--jobs"} <= set(found)
    # These are done alone, done already, or only used by SCons.
    assert not {"plan", "boards", "flash", "matrix", "shard=", "--shard"} & set(found)
    assert completions("n6build flash --prob", tmp_path) == ["--probe"]
    assert not {"run", "flash"} & set(completions("n6build boards ", tmp_path))


@pytest.mark.parametrize("form", ["board=", "--board ", "--board="])
def test_boards(form: str, tmp_path: Path) -> None:
    assert completions(f"n6build build {form}", tmp_path) == known_boards()


def test_a_project_s_own_boards_and_models(tmp_path: Path) -> None:
    (tmp_path / "boards/mine").mkdir(parents=True)
    (tmp_path / "boards/mine/board.yaml").write_text("title: not complete\n")
    (tmp_path / "models/ours").mkdir(parents=True)
    (tmp_path / "models/ours/model.yaml").write_text("")
    assert completions("n6build run board=mi", tmp_path) == ["mine"]
    assert completions("n6build run model=ou", tmp_path) == ["ours"]
    # A build reports that the board cannot be read.
    assert completions("n6build run board=mine profile=ex", tmp_path) == [""]


def test_models_by_name_or_file_and_several(tmp_path: Path) -> None:
    (tmp_path / "key.tflite").write_bytes(b"")
    assert set(completions("n6build build model=", tmp_path)) >= {*known_models(), "key.tflite"}
    assert set(completions("n6build build model=key", tmp_path)) == {"keyword", "key.tflite"}
    assert completions("n6build build model=keyword,an", tmp_path) == ["keyword,anomaly"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("board=openmv-n6 profile=no", ["noextmem"]),
        ("--loader ", ["linked", "reloc"]),
        ("backend=ref", ["reference"]),
        ("probe=v", ["virtual"]),
        ("mode=no-run,max", ["no-run,max-speed"]),
        ("dry=", ["0", "1"]),
        ("nonsense=", [""]),
    ],
)
def test_values(line: str, expected: list[str], tmp_path: Path) -> None:
    assert completions(f"n6build run {line}", tmp_path) == expected


def test_files_where_an_option_names_one(tmp_path: Path) -> None:
    (tmp_path / "my app.elf").write_bytes(b"")
    assert completions("n6build run appli=my", tmp_path) == ["my\\ app.elf"]


def test_another_shell(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--print-completion", "tcsh"]) == 2
    assert "N6-OPTION-019: no completion for 'tcsh'" in capsys.readouterr().err
    assert main(["--print-completion", "zsh"]) == 0
    assert "compdef _python_argcomplete n6build" in capsys.readouterr().out


class Typed:
    """A bash with a simulated user at its terminal."""

    def __init__(self, folder: Path) -> None:
        self._mine, theirs = pty.openpty()
        environment = {"PATH": f"{folder}:{os.environ['PATH']}", "HOME": str(folder), "TERM": "dumb", "PS1": "> "}
        command = ["bash", "--norc", "--noprofile", "-i"]
        self._bash = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)

    def type(self, text: str, until: str) -> str:
        """Type a text; return the terminal's output up to an expected text."""
        os.write(self._mine, text.encode())
        shown, end = "", time.monotonic() + NET_S
        while until not in shown and time.monotonic() < end:
            if select.select([self._mine], [], [], 1)[0]:
                shown += os.read(self._mine, 4096).decode(errors="replace").replace("\a", "")
        assert until in shown, shown
        return shown

    def close(self) -> None:
        self._bash.kill()
        self._bash.wait()
        os.close(self._mine)


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_typed_into_bash(tmp_path: Path) -> None:
    program = tmp_path / "n6build"
    program.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT}/site_scons exec {sys.executable} -m n6build "$@"\n')
    program.chmod(0o755)
    (tmp_path / "completion").write_text(script("bash"))
    bash = Typed(tmp_path)
    try:
        bash.type(". ./completion; echo known $((40 + 2))\n", "known 42")
        # A single completion is written out, with a blank behind it unless more must follow.
        bash.type("n6build fla\t", "n6build flash")
        bash.type("\x15n6build flash boa\t", "board=")
        bash.type("nuc\t", "leo-n657 ")
        bash.type("--bac\t", "kend ")
        # The second tab lists several completions.
        bash.type("\x15n6build flash loader=\t\t", "linked  reloc")
    finally:
        bash.close()
