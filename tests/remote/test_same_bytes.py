"""A worker with other folders makes the same bytes.

Its compiler and its working directory are at other places than here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from compiler.places import copied_toolchain, steps_in, use
from compiler_cache import real_compiler
from n6build.base.paths import ROOT
from n6build.engine.local import execute, local_site
from n6build.engine.plan import make_plan
from n6build.engine.remote.executor import use_remote

from remote.scripted import Scripted, does

# A project with n6build in a folder of its own. The second argument is the optional server.
EMBEDDED = """
import os, sys
from pathlib import Path
from n6build.base.environment import read_environment
from n6build.base.paths import FIRMWARE
from n6build.compile.toolchain import find_toolchain
from n6build.engine.local import execute, local_site
from n6build.engine.plan import make_plan
from n6build.engine.remote.executor import use_remote
from n6build.steps.compile_c import Compilation, compile_step
toolchain = find_toolchain(read_environment(), None)
step = compile_step("build/a.o", FIRMWARE / "bring_up/n6_crc32.c", Compilation(toolchain).looking_in(FIRMWARE / "bring_up"))
site = local_site(Path("build"), {"PATH": os.environ["PATH"]})
if sys.argv[1:]:
    use_remote(sys.argv[1], site)
execute(make_plan([step]), [step.name], site)
print(site.ledger.entries[step.name].origin)
"""


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow a busy machine enough time."""
    monkeypatch.setenv("N6BUILD_REMOTE_TIMEOUT", "300")


def test_a_worker_with_another_place_of_everything_makes_the_same(
    scripted: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The products are objects of C and assembly, an archive, an ELF file and its map.

    n6build is beside the project.
    """
    (project := tmp_path / "project").mkdir()
    monkeypatch.chdir(project)
    toolchain, environment = use(Path(real_compiler() or "").parent)
    plan = make_plan(steps_in(project / "src", toolchain))
    names = [output for step in plan.steps for output in step.outputs]
    execute(plan, names, local_site(Path("build"), environment))
    here = {name: Path(name).read_bytes() for name in names}
    shutil.rmtree("build")
    path = os.pathsep.join((str(copied_toolchain(tmp_path / "tool chain")), "/usr/bin", "/bin"))
    workers = [tmp_path / f"a worker {number}" for number in range(len(plan.steps))]
    # The working directory has another name in a sandbox.
    scripted.script = [does(scripted, each, PATH=path, PWD=f"{each}/./project") for each in workers]
    site = local_site(Path("build"), environment)
    assert use_remote(scripted.address, site) is not None
    execute(plan, names, site, jobs=1)
    assert {entry.origin for entry in site.ledger.entries.values()} == {"elsewhere"}
    assert [name for name in names if Path(name).read_bytes() != here[name]] == []


def test_n6build_may_be_inside_the_project(scripted: Scripted, tmp_path: Path) -> None:
    """A worker then finds its files, and gives them the names of this machine."""
    project = tmp_path / "project"
    for name in ("site_scons", "firmware", "boards", "models"):
        ignored = shutil.ignore_patterns("__pycache__", "*.tflite")
        shutil.copytree(ROOT / name, project / "deps/n6build" / name, ignore=ignored)
    made = []
    for server in ((), (scripted.address,)):
        shutil.rmtree(project / "build", ignore_errors=True)
        scripted.script = [does(scripted, tmp_path / "worker")]
        command = [sys.executable, "-c", EMBEDDED, *server]
        variables = {**os.environ, "PYTHONPATH": str(project / "deps/n6build/site_scons")}
        told = subprocess.run(command, cwd=project, env=variables, capture_output=True, text=True, check=True).stdout
        assert told.split()[-1] == ("elsewhere" if server else "here"), told
        made.append((project / "build/a.o").read_bytes())
    assert made[0] == made[1]
    assert b"deps/n6build/firmware/bring_up" in made[0]
