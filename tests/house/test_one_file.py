"""What takes one new file takes no more: the examples, put into a copy of the project, are found."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

from end_to_end.conftest import Project, make_project
from n6build.hardware.boards import load_board
from programmer_stand_ins.board import Settings, make_desk

EXAMPLES = Path(__file__).resolve().parent / "examples"
TESTS = EXAMPLES.parents[1]
BOARD = load_board("nucleo-n657")


def with_example(folder: Path, example: str, package: str) -> Project:
    project = make_project(folder)
    shutil.copy2(EXAMPLES / example, project.root / "site_scons/n6build" / package)
    return project


def test_a_check(tmp_path: Path) -> None:
    project = with_example(tmp_path, "check/small_input.py", "checks/rules")
    result = project.scons("model=keyword", "check")
    assert result.status == 2
    assert json.loads((project.root / "build/last_error.json").read_text())["id"] == "N6-CHECK-099"
    assert "fewer than our camera gives" in result.output
    assert "hint: train the model with a larger input; or accept it: checks.waive.N6-CHECK-099" in result.output
    waiver = "checks: {waive: {N6-CHECK-099: it sees enough}}\nresult: classification"
    project.replace("models/keyword/model.yaml", "result: classification", waiver)
    result = project.scons("model=keyword", "check")
    assert result.status == 0, result.output
    assert "waived: it sees enough" in result.output


def test_a_programmer(tmp_path: Path) -> None:
    project = with_example(tmp_path, "programmer/flashcat.py", "flash/programmers")
    desk = make_desk(tmp_path / "desk", Settings(size=BOARD.nor.size, erase=BOARD.nor.sector))
    stand_ins = tmp_path / "stand_ins"
    shutil.copytree(TESTS / "programmer_stand_ins", stand_ins / "programmer_stand_ins")
    shutil.copy2(EXAMPLES / "programmer/flashcat_stand_in.py", stand_ins / "programmer_stand_ins/flashcat.py")
    command = desk.commands / "flashcat"
    command.write_text(
        f"#!{sys.executable} -IS\nimport sys\nfrom pathlib import Path\nsys.path.insert(0, {str(stand_ins)!r})\n"
        "from programmer_stand_ins.flashcat import main\n"
        f"with open({str(desk.commands / 'calls')!r}, 'a') as calls:\n    calls.write(' '.join(sys.argv[1:]) + '\\n')\n"
        f"sys.exit(main(Path({str(desk.folder)!r}), sys.argv[1:]))\n"
    )
    command.chmod(0o755)
    path = f"{desk.commands}:{os.environ['PATH']}"
    result = project.scons("model=keyword", "probe=flashcat", "flash", PATH=path)
    assert result.status == 0, result.output
    assert result.flashed == "4 of 4 sectors programmed and verified (256.0 KiB)"
    verbs = [call.split()[1] for call in desk.calls() if call != "list"]
    assert verbs[0] == "id"
    assert {"read", "write"} <= set(verbs)
    assert project.scons("model=keyword", "probe=flashcat", "flash", PATH=path).flashed == "holds all of it already"
    # Whoever asks what there is hears of it, too.
    assert "(flashcat, openocd, pyocd, stm32cubeprogrammer)" in " ".join(project.scons("-h").output.split())
    assert "programs a real board: probe=flashcat" in project.scons("doctor", PATH=path).output
    assert "did you mean 'flashcat'" in project.scons("probe=flashcap:0041", "flash", PATH=path).output
