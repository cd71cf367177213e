"""n6build in somebody else's SConstruct, with options and targets of their own, and beside another build."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from pathlib import Path

import pytest

from end_to_end.conftest import Project

HOST = """
import sys

sys.path.insert(0, {library!r})
env = Environment(tools=["n6", "n6_options", "n6_application"], toolpath=[{tools!r}], N6_BUILD="out/nn")
choices = env.N6Options({{"model": "net.tflite"}})
plan = env.N6Plan(choices, ["build"])
nodes = env.N6Steps(plan)
env.Command("hello", nodes[plan.goals["build"][0]], Copy("$TARGET", "$SOURCE"))
env.Command("plain", [], "echo " + ARGUMENTS.get("arch", "none") + " > $TARGET")
"""


@pytest.fixture
def host(project: Project, tmp_path: Path) -> Project:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    shutil.copy(project.root / "models/anomaly/anomaly.tflite", theirs / "net.tflite")
    library = project.root / "site_scons"
    (theirs / "SConstruct").write_text(HOST.format(library=str(library), tools=str(library / "site_tools")))
    return Project(theirs, project.home)


def test_options_and_targets_of_the_host_are_its_own(host: Project) -> None:
    result = host.scons("arch=arm", "plain")
    assert result.status == 0, result.output
    assert (host.root / "plain").read_text() == "arm\n"
    assert result.actions == []


def test_what_a_goal_makes_is_a_source_for_the_host(host: Project) -> None:
    result = host.scons("hello")
    assert result.status == 0, result.output
    manifest = json.loads((host.root / "hello").read_text())
    assert [segment["name"] for segment in manifest["segments"]][:2] == ["fsbl", "appli"]
    assert not (host.root / "build").exists()
    assert "is up to date" in host.scons("hello").output


def test_the_last_error_is_in_the_host_s_build_folder(host: Project) -> None:
    (host.root / "net.tflite").write_bytes(b"TFL3")
    assert host.scons("hello").status == 2
    assert json.loads((host.root / "out/nn/last_error.json").read_text())["id"].startswith("N6-NET")


def test_a_second_build_in_one_folder_waits_and_says_so(project: Project) -> None:
    """The first one is this test: it holds the lock as a build does."""
    folder = project.root / "build/.n6build"
    folder.mkdir(parents=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        with project.started("model=anomaly", "network") as process:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert f"Waiting build, another build is using it (process {os.getpid()})" in line
            assert project.scons("-n", "model=anomaly", "network").status == 0
            fcntl.flock(lock, fcntl.LOCK_UN)
            output, _ = process.communicate()
    assert process.returncode == 0, output
    assert (project.root / "build/nucleo-n657/anomaly/network/network.c").is_file()


def test_cleaning_leaves_the_lock_where_it_is(project: Project) -> None:
    assert project.scons("model=anomaly", "network").status == 0
    assert project.scons("model=anomaly", "-c", "build").status == 0
    assert (project.root / "build/.n6build/lock").is_file()
