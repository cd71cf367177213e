"""n6build in a host's SConstruct with own options and targets.

Builds at the same time are tested, too.
"""

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
    result = host.done("arch=arm", "plain")
    assert (host.root / "plain").read_text() == "arm\n"
    assert result.actions == []


def test_what_a_goal_makes_is_a_source_for_the_host(host: Project) -> None:
    host.done("hello")
    manifest = json.loads((host.root / "hello").read_text())
    assert [segment["name"] for segment in manifest["segments"]][:2] == ["fsbl", "appli"]
    assert not (host.root / "build").exists()
    assert "is up to date" in host.scons("hello").output


@pytest.mark.slow
def test_the_last_error_is_in_the_host_s_build_folder(host: Project) -> None:
    network = (host.root / "net.tflite").read_bytes()
    (host.root / "net.tflite").write_bytes(b"TFL3")
    assert host.scons("hello").status == 2
    assert json.loads((host.root / "out/nn/last_error.json").read_text())["id"].startswith("N6-NET")
    (host.root / "net.tflite").write_bytes(network)
    assert host.scons("plain").status == 0
    assert not (host.root / "out/nn/last_error.json").exists()


IN_A_SUBFOLDER = """
Import("env")
choices = env.N6Options({"model": "net.tflite"}, folder=".")
plan = env.N6Plan(choices, ["build"])
nodes = env.N6Steps(plan)
env.Command("hello", nodes[plan.goals["build"][0]], Copy("$TARGET", "$SOURCE"))
"""
ABOVE = """
import sys

sys.path.insert(0, {library!r})
env = Environment(tools=["n6", "n6_options", "n6_application"], toolpath=[{tools!r}], N6_BUILD={build})
SConscript("nn/SConscript", exports="env"{more})
"""


@pytest.fixture
def host_with_subfolder(host: Project) -> Project:
    (host.root / "nn").mkdir()
    (host.root / "net.tflite").rename(host.root / "nn/net.tflite")
    (host.root / "nn/SConscript").write_text(IN_A_SUBFOLDER)
    write_above(host)
    return host


def write_above(host: Project, build: str = '"out/nn"', more: str = "", file: str = "SConstruct") -> None:
    library = host.home.parent / "project/site_scons"
    text = ABOVE.format(library=str(library), tools=str(library / "site_tools"), build=build, more=more)
    (host.root / file).write_text(text)


def test_a_script_in_a_subfolder_uses_the_tools(host_with_subfolder: Project) -> None:
    host = host_with_subfolder
    assert host.scons("nn/hello").status == 0
    assert (host.root / "out/nn/nucleo-n657/net/flash_manifest.json").is_file()
    assert "is up to date" in host.scons("nn/hello").output


@pytest.mark.slow
@pytest.mark.parametrize("build", ['"out/nn/"', '"#out/nn"', '"./out/nn"', 'Dir("out/nn")'])
def test_the_build_folder_may_be_written_in_any_way(host_with_subfolder: Project, build: str) -> None:
    write_above(host_with_subfolder, build)
    assert "Network out/nn/nucleo-n657/net/network/network.c" in host_with_subfolder.done("-n", "nn/hello").output


@pytest.mark.slow
def test_a_script_may_have_a_variant_folder(host_with_subfolder: Project) -> None:
    host = host_with_subfolder
    write_above(host, more=', variant_dir="out/debug", duplicate=False')
    host.done("out/debug/hello")
    assert (host.root / "out/debug/hello").is_file()
    assert "is up to date" in host.scons("out/debug/hello").output


@pytest.mark.slow
def test_scons_may_be_called_from_elsewhere(host_with_subfolder: Project) -> None:
    host = host_with_subfolder
    elsewhere = Project(host.home, host.home)
    elsewhere.done("-C", str(host.root), "nn/hello")
    assert (host.root / "nn/hello").is_file()
    assert "is up to date" in host.scons("nn/hello").output


@pytest.mark.slow
def test_the_script_may_have_another_name(host_with_subfolder: Project) -> None:
    write_above(host_with_subfolder, file="build.scons")
    (host_with_subfolder.root / "SConstruct").unlink()
    result = host_with_subfolder.done("-f", "build.scons", "-n", "nn/hello")
    assert "Network out/nn/nucleo-n657/net/network/network.c" in result.output


SETTINGS = """
print("max_drift", GetOption("max_drift"), "hash_format", GetOption("hash_format"))
Help("what the host says of itself")
CacheDir("cache")
"""


@pytest.mark.slow
def test_settings_of_scons_stay_those_of_the_host(host: Project) -> None:
    text = (host.root / "SConstruct").read_text()
    (host.root / "SConstruct").write_text(text + SETTINGS)
    (host.root / "plain.scons").write_text(SETTINGS)
    usual = host.scons("-f", "plain.scons", "-h").output.splitlines()[0]
    result = host.scons("-h")
    assert usual.startswith("max_drift 1")
    assert result.output.splitlines()[0] == usual
    assert "what the host says of itself" in result.output
    assert "a neural network from its model file" not in result.output


@pytest.mark.slow
def test_the_cache_of_the_host_holds_nothing_of_ours(host: Project) -> None:
    (host.root / "SConstruct").write_text(SETTINGS + (host.root / "SConstruct").read_text())
    assert host.scons("hello").status == 0
    assert len([path for path in (host.root / "cache").rglob("*") if path.is_file()]) <= len(["config", "tag", "hello"])


@pytest.mark.slow
def test_a_second_build_in_one_folder_waits_and_says_so(project: Project) -> None:
    """The test plays the first build: it holds the lock as a build does."""
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


@pytest.mark.slow
def test_cleaning_leaves_the_lock_where_it_is(project: Project) -> None:
    assert project.scons("model=anomaly", "network").status == 0
    assert project.scons("model=anomaly", "-c", "build").status == 0
    assert (project.root / "build/.n6build/lock").is_file()
