"""The time of the answer "nothing to do", beside a bare start of Python."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import SCons

from benchmarks.measure import SETTLED_S, Head, Rows, least, run, temporary_project

ASK = (sys.executable, "-I", "-S", "site_scons/n6build/engine/ask.py")
SCONS = (sys.executable, "-m", "SCons", "-Q")
N6BUILD = (sys.executable, "-P", "-m", "n6build", "build")


def front(runs: int = 30) -> Rows:
    """Yield the least time of the answer that there is nothing to do."""
    yield Head(("command", "time", "times Python's start", "its processor"))
    with temporary_project() as project:
        empty = project / "build/empty"
        fronts = {
            "the front, as `make build` asks it": [*ASK, str(Path(SCons.__path__[0], "__main__.py")), "-Q", "build"],
            "the front, as `n6build build` asks it": [*ASK, "n6build", "build"],
        }
        commands = {
            "`python -I -S -c pass`": [sys.executable, "-I", "-S", "-c", "pass"],
            **fronts,
            "`scons build`, which asks the front after SCons is imported": [*SCONS, "build"],
            "SCons with an empty SConstruct": [*SCONS, "-C", str(empty)],
            "`n6build build front=0`": [*N6BUILD, "front=0"],
            "`scons build front=0`, as after any change": [*SCONS, "build", "front=0"],
        }
        environment = {"PYTHONPATH": str(project / "site_scons")}
        while not _answers(list(fronts.values()), project, environment):
            run([*SCONS, "build"], project, environment)
            run(N6BUILD, project, environment)
            time.sleep(SETTLED_S)
        empty.mkdir(parents=True, exist_ok=True)
        (empty / "SConstruct").write_text('DefaultEnvironment(tools=[])\nDefault(Alias("nothing"))\n')
        rounds = [[run(each, project, environment) for each in commands.values()] for _ in range(runs)]
        costs = [least(column) for column in zip(*rounds, strict=True)]
        for name, cost in zip(commands, costs, strict=True):
            times = f"{cost.wall / costs[0].wall:.1f}", f"{cost.cpu * 1000:.1f} ms"
            yield name, f"{cost.wall * 1000:.1f} ms", *times
        for answer in (project / "build/.n6build/front").iterdir():
            paths = answer.read_bytes().split(bytes(2))[2].count(bytes(1)) // 2 + 1
            yield f"paths behind an answer of {answer.stat().st_size // 1024} KiB", str(paths), "", ""


def _answers(fronts: Sequence[Sequence[str]], project: Path, environment: Mapping[str, str]) -> bool:
    """Return whether the front answers each of these commands."""
    with suppress(SystemExit):
        for each in fronts:
            run(each, project, environment)
        return True
    return False
