"""Copies of the project, measured programs, and tables, for all benchmarks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("SConstruct", "site_scons", "boards", "models", "firmware", "tools")
REPEATS = 7
# The front waits until files are so old that it cannot miss a change of them.
SETTLED_S = 2.5

Row = Sequence[str]
Rows = Iterator[Row]


class Head(tuple[str, ...]):
    """The titles of a table's columns; the next rows belong to that table."""


FIGURES = Head(("figure", "measured", "goal"))


@dataclass(frozen=True)
class Spent:
    """The cost of a program and of all programs that it starts.

    Attributes:
        wall: Seconds of the clock.
        cpu: Seconds of the processor.
        megabytes: Memory of the largest process.
        output: Text of both outputs.
    """

    wall: float
    cpu: float
    megabytes: float
    output: str


def run(command: Sequence[str | Path], folder: Path = ROOT, environment: Mapping[str, str] | None = None) -> Spent:
    """Run a program and return its cost.

    Args:
        command: Program and arguments.
        folder: Working directory.
        environment: Variables besides those of this process.

    Raises:
        SystemExit: The program fails.
    """
    variables = {**os.environ, "PYTHONPATH": str(ROOT / "site_scons"), **(environment or {})}
    # With this variable, each start of Python compiles all modules again.
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryFile() as output:
        began = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=folder, env=variables, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode()
    if process.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} ended with {process.returncode}:\n{text}")
    return Spent(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000, text)


def scons(project: Path, *arguments: str, environment: Mapping[str, str] | None = None) -> Spent:
    """Run a build of a project and return its cost."""
    variables = {"PYTHONPATH": str(project / "site_scons"), **(environment or {})}
    return run([sys.executable, "-m", "SCons", "-Q", "-j2", *arguments], project, variables)


def least(runs: Iterable[Spent]) -> Spent:
    """Return the least of each cost: other work on the machine only adds to it."""
    found = list(runs)
    wall, cpu = min(each.wall for each in found), min(each.cpu for each in found)
    return Spent(wall, cpu, min(each.megabytes for each in found), found[-1].output)


def copied_project(folder: Path) -> Path:
    """Copy the files that the project declares to a new folder, and return it."""
    folder.mkdir(parents=True)
    for name in COPIED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copy(ROOT / name, folder / name)
    return folder


@contextmanager
def temporary_project() -> Iterator[Path]:
    """Yield a copy of the project, and remove it."""
    with tempfile.TemporaryDirectory(prefix="n6bench-") as folder:
        yield copied_project(Path(folder) / "project")


def print_tables(rows: Iterable[Row]) -> None:
    """Print tables in Markdown, each row as soon as it is known."""
    for row in rows:
        if isinstance(row, Head):
            print(f"\n| {' | '.join(row)} |\n|{'---|' * len(row)}")
        else:
            print(f"| {' | '.join(row)} |", flush=True)
