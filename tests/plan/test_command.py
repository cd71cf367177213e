"""`python -m n6build step`: the steps of a real plan, a process each, and what a user may do wrong."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from end_to_end.conftest import Project, make_project

BOARD = "build/nucleo-n657"
WANTED = (f"{BOARD}/fsbl_image.bin", f"{BOARD}/anomaly/memory_plan.json")
EXECUTE = """
import json, sys
from pathlib import Path
from n6build.base.environment import read_environment
from n6build.plan.local import execute, local_site, read_plan_file
plan = read_plan_file(Path("plan.json"))
execute(plan, sys.argv[1:], local_site(Path("build"), dict(read_environment().commands)))
"""


def python(project: Project, *arguments: str) -> subprocess.CompletedProcess[str]:
    return project_call(project, sys.executable, *arguments)


def project_call(project: Project, *command: str) -> subprocess.CompletedProcess[str]:
    """With nothing but the project's own library in reach."""

    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(project.home),
        "PYTHONPATH": str(project.root / "site_scons"),
    }
    return subprocess.run(
        command, cwd=project.root, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def step(project: Project, name: str, *more: str, plan: str = "plan.json") -> subprocess.CompletedProcess[str]:
    result = python(project, "-m", "n6build", "step", name, "--plan", plan, *more)
    assert "Traceback" not in result.stderr, result.stderr
    return result


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy of the project with plan.json, where nothing is built."""
    project = make_project(tmp_path_factory.mktemp("planned"))
    shown = project.scons("model=anomaly", "plan", *WANTED)
    assert shown.status == 0, shown.output
    (project.root / "build/plan.json").rename(project.root / "plan.json")
    shutil.rmtree(project.root / "build")
    return project


@pytest.fixture
def project(planned: Project, tmp_path: Path) -> Project:
    return copied(planned, tmp_path / "copy")


def copied(project: Project, folder: Path) -> Project:
    folder.mkdir()
    root, home = folder / "project", folder / "home"
    shutil.copytree(project.root, root, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.rmtree(root / "models")
    (root / "models").mkdir()
    shutil.copytree(project.root / "models/anomaly", root / "models/anomaly")
    home.mkdir()
    return Project(root, home)


def steps_of(project: Project) -> list[dict[str, list[str]]]:
    steps: list[dict[str, list[str]]] = json.loads((project.root / "plan.json").read_text())["steps"]
    return steps


@pytest.mark.slow
def test_steps_of_a_process_each_make_what_the_executor_and_scons_make(planned: Project, tmp_path: Path) -> None:
    alone, together, by_scons = (copied(planned, tmp_path / name) for name in ("alone", "together", "by_scons"))
    outputs = [output for each in steps_of(planned) for output in each["outputs"]]
    assert set(WANTED) <= {*outputs}
    for each in steps_of(planned):
        result = step(alone, each["outputs"][-1])
        assert (result.returncode, result.stderr) == (0, ""), result.stderr
    executed = python(together, "-c", EXECUTE, *WANTED)
    assert executed.returncode == 0, executed.stderr
    built = by_scons.scons("model=anomaly", *WANTED)
    assert built.status == 0, built.output
    for output in outputs:
        made = (alone.root / output).read_bytes()
        assert made == (together.root / output).read_bytes(), output
        assert made == (by_scons.root / output).read_bytes(), output
    # And SCons takes what they have left for what it would have made.
    assert step(by_scons, WANTED[0]).returncode == 0
    assert by_scons.scons("model=anomaly", *WANTED).actions == []


def test_a_step_says_what_it_does_and_is_entered_in_the_ledger(project: Project) -> None:
    result = step(project, f"{BOARD}/include/n6_soc.h")
    assert result.stdout.strip() == f"Header {BOARD}/include/n6_soc.h"
    assert f"{BOARD}/include/n6_soc.h" in (project.root / "build/.n6build/ledger.jsonl").read_text()


def test_a_step_without_what_it_needs_fails_and_leaves_nothing(project: Project) -> None:
    link = f"{BOARD}/fsbl/fsbl.elf"
    target = project.root / link
    target.parent.mkdir(parents=True)
    target.write_text("of another day")
    result = step(project, link)
    assert result.returncode == 2
    assert f"{link}: error N6-STEP-010: arm-none-eabi-gcc ended with status 1" in result.stderr
    assert not target.exists()
    image = step(project, f"{BOARD}/fsbl_image.bin")
    assert image.returncode == 2
    assert "fsbl.elf: error N6-" in image.stderr


def test_a_name_that_no_step_has(project: Project) -> None:
    result = step(project, f"{BOARD}/fsbl_image.bim")
    assert result.returncode == 2
    assert result.stderr == (
        f"error N6-STEP-014: no step of this plan makes {BOARD}/fsbl_image.bim\n"
        f"  hint: did you mean '{BOARD}/fsbl_image.bin'?\n"
    )


def test_a_plan_that_is_damaged_or_not_there(project: Project) -> None:
    text = (project.root / "plan.json").read_text()
    (project.root / "cut.json").write_text(text[: len(text) // 2])
    for plan, id in (("cut.json", "N6-STEP-009"), ("absent.json", "N6-FILE-002"), ("/dev/zero", "N6-FILE-002")):
        result = step(project, WANTED[0], plan=plan)
        assert result.returncode == 2
        assert f"{plan}: error {id}: " in result.stderr


def test_a_plan_that_gives_a_function_what_it_was_not_written_for(project: Project) -> None:
    network = f"{BOARD}/anomaly/network/network.c"
    values = json.loads((project.root / "plan.json").read_text())
    (of_network,) = [each for each in values["steps"] if network in each["outputs"]]
    changes: tuple[dict[str, object], ...] = (
        {"sources": []},
        {"parameters": {"board": 7}},
        {"function": "n6build.base.paths:project_path"},
    )
    for change in changes:
        changed = [each | change if each is of_network else each for each in values["steps"]]
        (project.root / "changed.json").write_text(json.dumps(values | {"steps": changed}))
        result = step(project, network, plan="changed.json")
        assert result.returncode == 2, change
        assert "error N6-STEP-0" in result.stderr, result.stderr
        assert not (project.root / network).exists()


def test_the_build_folder_is_named_where_it_has_another_name(project: Project) -> None:
    text = (project.root / "plan.json").read_text()
    (project.root / "plan.json").write_text(text.replace('"build/', '"other/'))
    header = "other/nucleo-n657/include/n6_soc.h"
    result = step(project, header, "--build", "other")
    assert result.returncode == 0, result.stderr
    assert (project.root / header).is_file()
    assert (project.root / "other/.n6build/ledger.jsonl").is_file()
    assert not (project.root / "build").exists()


def test_a_command_line_that_asks_for_nothing(project: Project) -> None:
    for arguments in ([], ["step"], ["step", "x"], ["plans"]):
        result = python(project, "-m", "n6build", *arguments)
        assert result.returncode == 2
        assert result.stderr.startswith("error N6-OPTION-0")
