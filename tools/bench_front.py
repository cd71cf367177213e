"""The time of the answer "nothing to do", compared with a bare start of Python.

    .venv/bin/python tools/bench_front.py        also a part of `make bench`

Wall clock and CPU time, the minimum of 30 runs each, all commands in turn: other work on the
machine only adds to them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("SConstruct", "site_scons", "boards", "models", "firmware", "tools")
RUNS = 30
# The front waits until files are so old that it cannot miss a change of them.
SETTLED_S = 2.5
ASK = ("-I", "-S", "site_scons/n6build/engine/ask.py")


@dataclass
class Spent:
    """The least seconds of all runs so far."""

    wall: float = float("inf")
    cpu: float = float("inf")


def front_speed(project: Path) -> Iterator[tuple[str, str]]:
    """Yield names and figures.

    Args:
        project: A copy that the front may build in.
    """
    environment = {**os.environ, "PYTHONPATH": str(project / "site_scons")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    python, scons = sys.executable, [sys.executable, "-m", "SCons"]
    # These are the words in sys.argv.
    words = [str(Path(_scons_folder(), "__main__.py")), "-Q", "build"]
    empty = project / "build" / "empty"
    commands = {
        "python -I -S -c pass": [python, "-I", "-S", "-c", "pass"],
        "the front, for scons build": [python, *ASK, *words],
        "the front, for n6build build": [python, *ASK, "n6build", "build"],
        "scons build, which asks the front once SCons is imported": [*scons, "-Q", "build"],
        "scons build front=0": [*scons, "-Q", "build", "front=0"],
        "scons with an empty SConstruct": [*scons, "-Q", "-C", str(empty)],
        "n6build build front=0": [python, "-P", "-m", "n6build", "build", "front=0"],
    }
    _make_answers(project, environment, commands)
    empty.mkdir(parents=True, exist_ok=True)
    (empty / "SConstruct").write_text('DefaultEnvironment(tools=[])\nDefault(Alias("nothing"))\n')
    spent = {name: Spent() for name in commands}
    for _ in range(RUNS):
        for name, command in commands.items():
            _measure(command, project, environment, spent[name])
    least = spent["python -I -S -c pass"]
    for name, each in spent.items():
        figures = f"{each.wall * 1000:.1f} ms, CPU {each.cpu * 1000:.1f} ms"
        yield name, f"{figures}; {each.wall / least.wall:.1f} times, CPU {each.cpu / least.cpu:.1f} times"
    for answer in (project / "build/.n6build/front").iterdir():
        data = answer.read_bytes()
        yield "paths behind an answer", f"{data.split(bytes(2))[2].count(bytes(1)) // 2 + 1}, {len(data) // 1024} KiB"


def _scons_folder() -> str:
    program = "import SCons; print(SCons.__path__[0])"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()


def _make_answers(project: Path, environment: dict[str, str], commands: dict[str, list[str]]) -> None:
    fronts = [command for name, command in commands.items() if name.startswith("the front")]
    builds = [
        commands["scons build, which asks the front once SCons is imported"],
        commands["n6build build front=0"][:-1],
    ]
    while any(
        subprocess.run(each, check=False, cwd=project, env=environment, stdout=subprocess.PIPE).returncode
        for each in fronts
    ):
        for build in builds:
            subprocess.run(build, cwd=project, env=environment, check=True, stdout=subprocess.PIPE)
        time.sleep(SETTLED_S)


def _measure(command: list[str], folder: Path, environment: dict[str, str], spent: Spent) -> None:
    began = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    spent.wall = min(spent.wall, time.perf_counter() - began)
    spent.cpu = min(spent.cpu, used.ru_utime + used.ru_stime)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")


def main() -> int:
    """Print all figures, measured in a temporary copy.

    Raises:
        SystemExit: A build fails.
    """
    with tempfile.TemporaryDirectory(prefix="n6bench-") as folder:
        project = Path(folder)
        for name in COPIED:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
            copy(ROOT / name, project / name)
        for name, value in front_speed(project):
            print(f"{name}: {value}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
