"""Target vscode in a project with its own files in .vscode."""

from __future__ import annotations

import json

import pytest

from end_to_end.conftest import Project


def test_what_is_there_is_added_to(project: Project) -> None:
    folder = project.root / ".vscode"
    folder.mkdir()
    (folder / "tasks.json").write_text('{"version": "2.0.0", "tasks": [{"label": "mine"}]}')
    assert "Wrote .vscode/tasks.json, 7 entries added" in project.done("model=keyword", "vscode").output
    tasks = json.loads((folder / "tasks.json").read_text())["tasks"]
    assert tasks[0] == {"label": "mine"}
    assert tasks[1]["args"] == ["build", "board=nucleo-n657", "model=keyword"]
    names = [each["servertype"] for each in json.loads((folder / "launch.json").read_text())["configurations"]]
    assert names == ["external", "stlink", "openocd", "pyocd"]
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert project.scons("model=keyword", "vscode").status == 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files
    # Neither cleaning nor another application removes anything.
    assert project.scons("model=keyword", "vscode", "-c").status == 0
    assert project.scons("model=anomaly", "probe=openocd:0041", "vscode").status == 0
    launch = json.loads((folder / "launch.json").read_text())["configurations"]
    assert len(launch) == 6
    assert (launch[-1]["servertype"], launch[-1]["serialNumber"]) == ("openocd", "0041")


# In every run: tests/report/test_editor_files.py.
@pytest.mark.slow
def test_a_file_with_comments_is_left_alone(project: Project) -> None:
    folder = project.root / ".vscode"
    folder.mkdir()
    theirs = '{\n    // mine\n    "configurations": []\n}\n'
    (folder / "launch.json").write_text(theirs)
    result = project.scons("model=keyword", "vscode").refused()
    assert ".vscode/launch.json:2: error N6-EDITOR-001" in result.output
    assert "hint: copy what you need from .vscode/launch.n6build.json" in result.output
    assert (folder / "launch.json").read_text() == theirs
    assert len(json.loads((folder / "launch.n6build.json").read_text())["configurations"]) == 4
    assert (folder / "tasks.json").is_file()
