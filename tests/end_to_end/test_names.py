"""Names from outside are names: nothing in them is carried out, and nothing breaks because of them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from end_to_end.conftest import Project, make_project

# Each would make the file PWNED if SCons substituted it, or a shell saw it.
SUBSTITUTED = "${open(chr(80)+chr(87)+chr(78)+chr(69)+chr(68),chr(119)).name}"
NAMES = [
    SUBSTITUTED,
    "`touch PWNED`",
    "$(touch PWNED)",
    "a;touch PWNED;",
    "a&touch PWNED&",
    "a|touch PWNED",
    'quote\'d "twice"',
    "back\\slash",
    "$HOME $$ $SOURCE ${TARGET}",
    "#hash",
    "@file",
    "-o",
    "per%cent *?[star]",
    "Zürich 漢字",
]


def assert_nothing_was_run(project: Project) -> None:
    assert not list(project.root.rglob("PWNED"))
    assert not list(project.home.rglob("PWNED"))


@pytest.mark.parametrize("name", NAMES)
def test_the_name_of_a_model_file(project: Project, name: str) -> None:
    folder = project.root / "models/mine"
    folder.mkdir()
    shutil.copy(project.root / "models/anomaly/anomaly.tflite", folder / f"{name}.tflite")
    (folder / "model.yaml").write_text(f"name: mine\nfile: {json.dumps(f'{name}.tflite')}\n")
    result = project.scons("model=mine", "network")
    assert result.status == 0, result.output
    assert result.actions == ["Network mine/network/network.c"]
    assert_nothing_was_run(project)


def test_a_file_name_that_drives_a_terminal_is_refused(project: Project) -> None:
    folder = project.root / "models/mine"
    folder.mkdir()
    (folder / "model.yaml").write_text('name: mine\nfile: "a\\nb\\e[2J.tflite"\n')
    result = project.scons("model=mine", "network")
    assert result.status == 2
    assert "models/mine/model.yaml:2: file: error N6-YAML-004" in result.output
    assert "\x1b[2J" not in result.output


@pytest.mark.parametrize(
    "name", ["we ird$x`b&", f"{SUBSTITUTED}", 'it\'s "mine" (1)'], ids=["shell", "scons", "quotes"]
)
def test_the_name_of_the_checkout(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name.replace("/", "_")
    folder.mkdir()
    project = make_project(folder)
    result = project.scons("model=anomaly", "probe=virtual", "flash", "run")
    assert result.status == 0, result.output
    assert "10 of 10 outputs equal" in result.output
    assert project.scons("model=anomaly", "probe=virtual", "flash").actions == []
    assert_nothing_was_run(project)
    assert not list(tmp_path.rglob("PWNED"))


def test_names_of_a_compiled_network(project: Project) -> None:
    """Its folder, and its weights."""
    assert project.scons("model=anomaly", "network").status == 0
    # A comma would part it from another model.
    name = "${__import__('os').system('touch PWNED')}"
    folder = project.root / f"st {name}"
    shutil.copytree(project.root / "build/nucleo-n657/anomaly/network", folder)
    (weights,) = folder.glob("*.raw")
    weights.rename(folder / f"{name}.xSPI2.raw")
    result = project.scons(f"model=./{folder.name}", "build")
    assert result.status == 0, result.output
    assert_nothing_was_run(project)


def test_names_that_a_description_of_a_file_system_matches(project: Project) -> None:
    folder = project.root / "rom"
    folder.mkdir()
    (folder / f"{SUBSTITUTED}.txt").write_text("label\n")
    description = {"0": {"size": 4096, "entries": [{"type": "txt", "path": "*.txt"}]}}
    (folder / "romfs_config.json").write_text(json.dumps(description))
    result = project.scons("romfs=rom/romfs_config.json", "romfs")
    assert result.status == 0, result.output
    assert_nothing_was_run(project)


@pytest.mark.parametrize("name", ["../evil", "a/b", "${x}", "a b"])
def test_a_board_whose_name_leaves_its_folder(project: Project, name: str) -> None:
    project.replace("boards/nucleo-n657/board.yaml", "name: nucleo-n657", f"name: {json.dumps(name)}")
    result = project.scons("build")
    assert result.status == 2
    assert "boards/nucleo-n657/board.yaml:1: name: error N6-YAML-004" in result.output
    assert not (project.root / "evil").exists()


def test_a_cache_in_a_folder_with_a_strange_name(project: Project) -> None:
    cache = project.root / SUBSTITUTED.replace("/", "_")
    assert project.scons("model=anomaly", f"cache={cache}", "network").status == 0
    assert cache.is_dir()
    shutil.rmtree(project.root / "build")
    assert project.scons("model=anomaly", f"cache={cache}", "network").status == 0
    assert_nothing_was_run(project)
