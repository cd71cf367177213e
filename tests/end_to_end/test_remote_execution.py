"""Steps done by the workers of a real server: what comes of them is what this machine makes, and so is what is said."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

import pytest
from remote.farm import Farm, running_farm

from end_to_end.conftest import Project, Result

FSBL = "build/nucleo-n657/fsbl_image.bin"


@pytest.fixture(scope="module")
def farm() -> Iterator[Farm]:
    """Two workers, with the compiler and the Python of this machine."""
    with running_farm() as farm:
        for name in ("w1", "w2"):
            farm.add_worker(name, properties=platform())
        yield farm


def platform() -> list[str]:
    """NAME=VALUE of this machine."""
    command = [sys.executable, "-m", "n6build.command_line.worker_platform"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def made_in(project: Project) -> dict[str, bytes]:
    """Path -> content, of all that was built; not what n6build notes about it."""
    build = project.root / "build"
    files = (path for path in build.rglob("*") if path.is_file() and ".n6build" not in path.parts)
    return {str(path.relative_to(build)): path.read_bytes() for path in files}


def built(project: Project, farm: Farm, goal: str) -> Result:
    """By the farm, however busy the machine is."""
    patient = {"N6BUILD_REMOTE_TIMEOUT": "300", "N6BUILD_REMOTE_PATIENCE": "300"}
    return project.scons(goal, N6BUILD_REMOTE=farm.address, **patient)


def told(result: Result) -> list[str]:
    """Lines, without those about the server and the time; in any order, since steps are begun as soon as they can."""
    return sorted(line for line in result.output.splitlines() if not line.strip().startswith(("Remote ", "Time ")))


def forget(project: Project) -> None:
    shutil.rmtree(project.root / "build")
    for path in project.root.glob(".sconsign*"):
        path.unlink()


def test_two_workers_make_what_this_machine_makes(project: Project, farm: Farm) -> None:
    """Byte for byte, from the generated headers to the image; nothing is made twice, and an error is the same one."""
    here = project.scons(FSBL, "-j2")
    files = made_in(project)
    forget(project)
    there = built(project, farm, FSBL)
    assert (there.status, there.output.count("Remote ")) == (0, 1), there.output
    assert told(there) == told(here)
    assert f" {len(told(here))} steps done by workers, " in there.output
    assert made_in(project) == files
    assert all((farm.folder / name / "root").is_dir() for name in ("w1", "w2"))
    again = built(project, farm, FSBL)
    assert (again.actions, "Remote" in again.output) == ([], False)
    project.replace("firmware/fsbl/main.c", "#include", "#error this is wrong\n#include")
    wrong = built(project, farm, FSBL)
    assert wrong.status == 2
    assert "error: #error this is wrong" in wrong.output
    assert "firmware/fsbl/main.c: error N6-STEP-010: arm-none-eabi-gcc ended with status 1" in wrong.output
    assert wrong.output.count("Remote ") == 1
    assert os.sep + "project" not in wrong.output
