"""The command n6build in its own folder, and in turn with scons in one folder."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import pytest

from end_to_end.conftest import Project, Result

MODEL = "model=anomaly"


def n6build(project: Project, *words: str, folder: Path | None = None, **environment: str) -> Result:
    """Run n6build with the library of the copy, in its folder or in another one."""
    result = project.call(sys.executable, "-m", "n6build", *words, folder=folder, **environment)
    assert "Traceback" not in result.output, result.output
    return result


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    folder = tmp_path / "a folder of somebody"
    folder.mkdir()
    return folder


def test_scons_does_nothing_where_n6build_has_built_and_the_other_way_round(project: Project) -> None:
    first = n6build(project, "build", MODEL).done()
    assert len(first.actions) > 20
    tables = json.loads(n6build(project, "build", "check", MODEL, "--json").output)
    assert {name: {*each} for name, each in tables.items()} == {"build": {"sizes", "checks"}, "check": {"checks"}}
    assert tables["build"]["sizes"]["applications"][0]["application"] == "anomaly"
    assert n6build(project, "build", MODEL, "--quiet").output == ""
    assert project.scons("-n", MODEL).actions == []
    assert project.scons(MODEL).actions == []
    assert "is up to date" in project.scons(MODEL).output
    assert project.scons("-q", MODEL).status == 0
    project.replace("firmware/fsbl/main.c", "not switch to the internal", "not change to the internal")
    assert project.scons("-n", MODEL).actions == ["Compile firmware/fsbl/main.c"]
    assert project.scons(MODEL).actions[:2] == ["Compile firmware/fsbl/main.c", "Link fsbl/fsbl.elf"]
    assert "Nothing to do, build up to date" in n6build(project, "build", MODEL).output
    project.replace("firmware/fsbl/main.c", "not change to the internal", "not switch to the internal")
    again = n6build(project, "build", MODEL).actions
    assert again[0] == "Compile firmware/fsbl/main.c"
    assert "Network anomaly/network/network.c" not in again
    assert project.scons(MODEL).actions == []
    # The source is again as SCons itself has last seen it.
    project.replace("firmware/fsbl/main.c", "not switch to the internal", "not change to the internal")
    assert project.scons(MODEL).actions[:2] == ["Compile firmware/fsbl/main.c", "Link fsbl/fsbl.elf"]


# In every run: test_scons_does_nothing_where_n6build_has_built_and_the_other_way_round: either finds its own
# bytes.
@pytest.mark.slow
def test_what_n6build_makes_is_what_scons_makes(project: Project, empty: Path) -> None:
    assert n6build(project, "build", MODEL, folder=empty).status == 0
    assert project.scons(MODEL, "build").status == 0
    made = sorted(path for path in (empty / "build/nucleo-n657").rglob("*") if path.suffix in (".bin", ".json", ".txt"))
    assert len(made) > 6
    for path in made:
        assert path.read_bytes() == (project.root / path.relative_to(empty)).read_bytes(), path.name


@pytest.mark.slow
def test_an_altered_output_and_one_that_is_missing_are_made_again(project: Project, empty: Path) -> None:
    assert n6build(project, "image", MODEL, folder=empty).status == 0
    image = empty / "build/nucleo-n657/fsbl_image.bin"
    right = image.read_bytes()
    for spoil in (lambda: image.write_bytes(right[:-1]), image.unlink):
        spoil()
        assert n6build(project, "image", MODEL, folder=empty).actions == ["Image fsbl_image.bin"]
        assert image.read_bytes() == right


@pytest.mark.slow
def test_a_folder_of_somebody_boots_its_own_model(project: Project, empty: Path) -> None:
    (empty / "net.tflite").write_bytes((project.root / "models/keyword/keyword.tflite").read_bytes())
    words = ("flash", "run", "--model", "net.tflite", "probe=virtual")
    result = n6build(project, *words, folder=empty).done()
    assert "Result 2 of 2 outputs equal the reference interpreter bit for bit" in result.output
    assert n6build(project, "flash", *words[2:], folder=empty).actions == []
    assert not (project.root / "build").exists()


def test_a_written_plan_is_the_one_of_scons(project: Project) -> None:
    written = n6build(project, "plan", "--write", "deep/plan.json", "network", MODEL)
    assert (written.status, written.output) == (0, "")
    assert project.scons("plan", "network", MODEL).status == 0
    assert (project.root / "deep/plan.json").read_bytes() == (project.root / "build/plan.json").read_bytes()
    assert "In all 1 of 1 steps to do" in n6build(project, "plan", "network", MODEL).output
    assert json.loads((project.root / "build/plan.json").read_text())["goals"].keys() == {"network"}


def test_an_error_is_in_the_build_folder_as_with_scons(project: Project, empty: Path) -> None:
    result = n6build(project, "flash", MODEL, folder=empty).refused()
    assert "error N6-FLASH-010" in result.output
    assert "probe=virtual" in result.output
    assert "scons" not in result.output
    assert json.loads((empty / "build/last_error.json").read_text())["id"] == "N6-FLASH-010"
    assert n6build(project, "network", MODEL, folder=empty).status == 0
    assert not (empty / "build/last_error.json").exists()


def test_lists_need_no_compiler_and_write_nothing(project: Project, empty: Path) -> None:
    for command, word in (("boards", "nucleo-n657"), ("models", "keyword"), ("doctor", "missing arm-none-eabi-gcc")):
        assert word in n6build(project, command, folder=empty, PATH="/nowhere").done().output
    assert list(empty.iterdir()) == []


@pytest.mark.slow
def test_options_come_from_the_folders_settings_and_the_environment(project: Project, empty: Path) -> None:
    (empty / "n6build.local.yaml").write_text("model: nowhere\n")
    assert "N6-MODEL-001: no model 'nowhere'" in n6build(project, "network", folder=empty).output
    assert "N6-MODEL-001: no model 'here'" in n6build(project, "network", folder=empty, N6BUILD_MODEL="here").output


@pytest.mark.slow
def test_boards_and_models_of_the_folder_come_before_those_of_n6build(project: Project, empty: Path) -> None:
    board = (project.root / "boards/nucleo-n657/board.yaml").read_text()
    own = empty / "boards/bench-n6/board.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(re.sub(r"(?m)^aliases:.*$", "aliases: []", board.replace("name: nucleo-n657", "name: bench-n6")))
    shutil.copytree(project.root / "models/anomaly", empty / "models/mine")
    described = empty / "models/mine/model.yaml"
    described.write_text(described.read_text().replace("name: anomaly", "name: mine"))
    words = ("flash", "run", "board=bench-n6", "model=mine", "probe=virtual")
    assert "outputs equal the reference interpreter bit for bit" in n6build(project, *words, folder=empty).done().output
    assert (empty / "build/bench-n6/mine/run.json").is_file()
    assert n6build(project, "flash", *words[2:], folder=empty).actions == []
    assert " bench-n6 " in n6build(project, "boards", folder=empty).output
    assert " mine " in n6build(project, "models", folder=empty).output
    own.write_text(own.read_text().replace("slots:", "slots: {}\nslotz:"))
    wrong = n6build(project, *words, folder=empty).output
    assert "boards/bench-n6/board.yaml" in wrong
    assert "error N6-YAML" in wrong


@pytest.mark.slow
def test_a_header_that_comes_and_goes_is_noticed(project: Project) -> None:
    source = project.root / "firmware/fsbl/main.c"
    source.write_text('#if __has_include("maybe.h")\n#include "maybe.h"\n#endif\n' + source.read_text())
    compiled = "build/nucleo-n657/fsbl/main.o"
    assert n6build(project, "build", compiled, MODEL).status == 0
    for name, text in (("maybe.h", ""), ("n6_clock.h", '#include "../bring_up/n6_clock.h"\n')):
        header = source.with_name(name)
        header.write_text(f'{text}__attribute__((used)) static const char n6_{name[:2]}[] = "it is here";\n')
        for there in (True, False):
            if not there:
                header.unlink()
            assert "Compile firmware/fsbl/main.c" in n6build(project, "build", MODEL).actions
            assert (b"it is here" in (project.root / compiled).read_bytes()) == there
            assert project.scons(MODEL).actions == []
