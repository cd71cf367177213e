"""Steps on the workers of a real server give local results and messages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from compiler.places import copied_toolchain
from compiler_cache import real_compiler
from n6build.engine.ledger import read_ledger
from remote.build_box import build_box, reason_without
from remote.farm import KNOWN, Farm, running_farm

from end_to_end.conftest import Project, Result, make_project

FSBL = "build/nucleo-n657/fsbl_image.bin"
PAIRS = ("matrix", "boards=nucleo-n657", "models=anomaly,keyword")
PATIENT = {"N6BUILD_REMOTE_TIMEOUT": "300", "N6BUILD_REMOTE_PATIENCE": "300"}


@pytest.fixture(scope="module")
def farm() -> Iterator[Farm]:
    """Yield a farm of two workers with this machine's compiler and Python."""
    with running_farm() as farm:
        for name in ("w1", "w2"):
            farm.add_worker(name, properties=platform())
        yield farm


def platform() -> list[str]:
    """Return NAME=VALUE of this machine's properties."""
    command = [sys.executable, "-m", "n6build.cli.worker_platform"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def made_in(project: Project) -> dict[str, bytes]:
    """Return path -> content of all built files, without n6build's records."""
    build = project.root / "build"
    files = (path for path in build.rglob("*") if path.is_file() and ".n6build" not in path.parts)
    return {str(path.relative_to(build)): path.read_bytes() for path in files}


def built(project: Project, farm: Farm, *goals: str) -> Result:
    """Build on the farm, however busy the machine is."""
    return project.scons(*goals, N6BUILD_REMOTE=farm.address, **PATIENT)


def told(result: Result) -> list[str]:
    """Return the output's lines, without those about the server and the time.

    They are sorted, since steps begin as soon as they can.
    """
    return sorted(line for line in result.output.splitlines() if not line.strip().startswith(("Remote ", "Time ")))


def forget(project: Project) -> None:
    shutil.rmtree(project.root / "build")


def runs_in(project: Project) -> dict[str, bytes]:
    """Return the results of runs, by path."""
    return {path: data for path, data in made_in(project).items() if "/run." in path}


def origins_of_runs(project: Project) -> set[str]:
    """Return the places where the runs were done."""
    entries = read_ledger(project.root / "build", may_write=False).entries
    return {entry.origin for name, entry in entries.items() if name.endswith("/run.json")}


@pytest.mark.slow
def test_runs_of_a_matrix_are_done_by_workers_with_a_virtual_board(project: Project, farm: Farm) -> None:
    """The workers' virtual boards use the flash memory that this machine programmed.

    If no worker has a virtual board, this machine does the runs.
    """
    for loader in (("loader=reloc", "slots=2"), ()):
        here = project.scons(*PAIRS, *loader)
        found = runs_in(project)
        assert (here.status, len(found)) == (0, 4), here.output
        forget(project)
        there = built(project, farm, *PAIRS, *loader)
        assert (there.status, there.output.count("Remote ")) == (0, 1), there.output
        assert runs_in(project) == found
        assert origins_of_runs(project) == {"elsewhere"}
        assert "Run " not in project.scons(*PAIRS, *loader).output
        forget(project)
    # The other server does not even know the property, and reports this at once.
    without = [each for each in KNOWN if "qemu" not in each]
    with running_farm(known=without) as poor:
        poor.add_worker("w1", properties=[each for each in platform() if "qemu" not in each])
        partly = built(project, poor, *PAIRS)
    said, sums = (line.strip() for line in partly.output.splitlines() if line.strip().startswith("Remote "))
    assert "N6-REMOTE-020: the server has no worker for this step: Unregistered platform property" in said
    assert said.endswith(", this computer runs all steps with the same needs")
    assert int(sums.split(", ")[1].split()[0]) > 50
    assert (partly.status, origins_of_runs(project), runs_in(project)) == (0, {"here"}, found)


# In every run: tests/remote/test_execute.py and test_executor.py (steps done by a worker),
# tests/proof/test_server_cache.py (scons and a server).
@pytest.mark.slow
def test_two_workers_make_what_this_machine_makes(project: Project, farm: Farm) -> None:
    """The files are equal byte for byte, from the generated headers to the image.

    No step runs twice, and an error is the same as here.
    """
    here = project.scons(FSBL, "-j2")
    files = made_in(project)
    forget(project)
    there = built(project, farm, FSBL)
    assert (there.status, there.output.count("Remote ")) == (0, 1), there.output
    assert told(there) == told(here)
    # Known steps are those that the same farm did for another test.
    (counts,) = re.findall(r"(\d+) steps by workers(?:, (\d+) known)?", there.output)
    assert sum(int(count or 0) for count in counts) == len(told(here))
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


@pytest.mark.slow
@pytest.mark.parametrize("loader", ["linked", "reloc"])
def test_places_of_checkout_compiler_and_worker_are_in_no_file(loader: str, project: Project, tmp_path: Path) -> None:
    """Compare the build folders, including objects, ELF files, maps and images.

    Archives, hex files and n6build's notes about the files are compared, too.
    """
    goals = ["model=anomaly", f"loader={loader}", "build", "hex", *(["library"] if loader == "linked" else [])]
    installed = path_with(Path(real_compiler() or "").parent)
    project.done(*goals, PATH=installed)
    files = made_in(project)
    assert {".o", ".elf", ".map", ".hex", ".bin"} <= {Path(name).suffix for name in files}
    (other := tmp_path / "an other $x'").mkdir()
    programs = copied_toolchain(other / "compiler")
    elsewhere = make_project(other)
    elsewhere.done(*goals, PATH=path_with(programs))
    assert differing(made_in(elsewhere), files) == []
    if reason_without():
        pytest.skip(reason_without())
    forget(project)
    with build_box(tmp_path / "box", programs.parent) as address:
        boxed = project.scons(*goals, PATH=installed, N6BUILD_REMOTE=address, **PATIENT)
    assert (boxed.status, "N6-REMOTE" in boxed.output) == (0, False), boxed.output
    assert differing(made_in(project), files) == []


def path_with(programs: Path) -> str:
    """Return a PATH in which this compiler comes first, without a compiler cache."""
    return os.pathsep.join((str(programs), "/usr/bin", "/bin"))


def differing(found: dict[str, bytes], wanted: dict[str, bytes]) -> list[str]:
    """Return the names of files that differ, except for notices.

    Notices are copied from files beside a compiler, which belong to their sources.
    """
    found, wanted = ({k: v for k, v in each.items() if not k.endswith("/notices.txt")} for each in (found, wanted))
    return sorted(name for name in found.keys() | wanted.keys() if found.get(name) != wanted.get(name))
