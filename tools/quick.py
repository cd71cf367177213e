"""Lint, and the tests that a change can reach, in half a minute.

    .venv/bin/python tools/quick.py              differences from the last commit, or that commit if there are none
    .venv/bin/python tools/quick.py --since main

`make quick` runs it after every edit. The most direct tests run first. Tests that do not fit into
the time are named at the end; `make test` runs them.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from reach import distances, is_build, read_tree

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
LIMIT_S = 27.0
# The import of more files would take longer than their tests may take.
MOST_FILES = 40
CHECKED = ("SConstruct", "site_scons", "tests", "tools", "models")
# Tests misspell names on purpose.
SPELT = ["README.md", "CONTRIBUTING.md", "boards", "docs", "examples", "firmware", "models", "site_scons", "tools"]
LINT = {
    "ruff check": ("ruff", "check", "--quiet", *CHECKED),
    "ruff format": ("ruff", "format", "--check", *CHECKED),
    "mypy": ("mypy",),
    "mypy of tools": ("mypy", "tools", "SConstruct"),
    "spelling": ("codespell", *SPELT),
    "import contracts": ("lint-imports", "--no-logo"),
    "dead code": ("python", "tools/dead_code.py"),
    "docstrings": (
        "python",
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/house/test_words.py",
        "-k",
        "first_line",
    ),
}


@dataclass(frozen=True)
class Followed:
    """Names of tests that quick_plugin wrote during a run of pytest."""

    found: tuple[str, ...]
    ended: frozenset[str]
    failed: tuple[str, ...]


def main() -> int:
    """Run lint and tests; return 0, or 1 if one fails."""
    start = time.monotonic()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--since", default="HEAD", help="a commit; default: the last one")
    parser.add_argument("--seconds", type=float, default=LIMIT_S, help="time limit for the tests")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="number of parallel tests")
    arguments = parser.parse_args()
    changed = changed_files(arguments.since) or changed_files("HEAD~1")
    reached = distances(read_tree(ROOT), changed)
    chosen = [test for test in reached if not is_build(test) or reached[test] == 0][:MOST_FILES]
    print(f"changed: {', '.join(changed)}\n{len(chosen)} of {len(reached)} test files that use them", flush=True)
    deadline = start + arguments.seconds
    with tempfile.TemporaryDirectory() as folder:
        lint = {name: started(command, Path(folder) / name) for name, command in LINT.items()}
        followed = (
            run_tests(chosen, arguments.jobs, deadline, Path(folder) / "tests")
            if chosen
            else Followed((), frozenset(), ())
        )
        wrong = [name for name, process in lint.items() if not ended_well(name, process, deadline, Path(folder) / name)]
    begun = {node.partition("::")[0] for node in followed.found}
    tell_left_out([test for test in reached if test not in begun], followed)
    return 1 if wrong or followed.failed else 0


def changed_files(since: str) -> list[str]:
    """Return paths that differ from a commit, untracked and deleted files included."""
    differ = git("diff", "--name-only", since, "--")
    return sorted({*differ, *(git("ls-files", "--others", "--exclude-standard") if since != "HEAD~1" else [])})


def git(*arguments: str) -> list[str]:
    """Return the lines that git prints; its error ends this program."""
    result = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"make quick compares with a commit: {result.stderr.strip()}")
    return result.stdout.splitlines()


def started(command: Iterable[str], output: Path, **environment: str) -> subprocess.Popen[bytes]:
    """Start a program of the environment in a process group that can be ended.

    Its output goes to a file; that of pytest is visible.
    """
    program, *rest = command
    with output.open("wb") as file:
        return subprocess.Popen(
            [BIN / program, *rest],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": "site_scons"} | environment,
            stdout=None if program == "pytest" else file,
            stderr=subprocess.STDOUT,
            process_group=0,
        )


def ended_in_time(process: subprocess.Popen[bytes], deadline: float) -> bool:
    """Wait for a process; after the deadline, end it with all its children."""
    try:
        process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return False
    return True


def ended_well(name: str, process: subprocess.Popen[bytes], deadline: float, output: Path) -> bool:
    """Print the output of a failed process, and return whether it succeeded.

    A process that took too long counts as a success.
    """
    if not ended_in_time(process, deadline):
        print(f"{name}: skipped, it took too long")
        return True
    if process.returncode:
        print(f"{name}:\n{output.read_text()}", flush=True)
    return not process.returncode


def run_tests(files: list[str], jobs: int, deadline: float, log: Path) -> Followed:
    """Run the tests in the order of the files."""
    count = min(jobs, len(files))
    workers = ["-n", str(count), "--dist", "load", "--maxschedchunk", "4"] if count > 1 else []
    command = ["pytest", "-q", "--no-header", "-r", "N", "--tb", "no", "-p", "quick_plugin", *workers, *files]
    environment = {"PYTHONPATH": "site_scons:tests:tools", "N6BUILD_QUICK": str(log)}
    process = started(command, log, **environment)
    if not ended_in_time(process, deadline):
        print("\nthe time limit is reached", flush=True)
    followed = read_followed(log)
    # Status 5 means that no test was found. Errors during collection or at the end are a failure.
    if process.returncode in (2, 3, 4):
        return Followed(followed.found, followed.ended, (*followed.failed, "pytest"))
    return followed


def read_followed(log: Path) -> Followed:
    """Read the plugin's output, whose last line may be cut off."""
    found: tuple[str, ...] = ()
    ended, failed = set(), []
    for line in log.read_text().splitlines(keepends=True):
        if not line.endswith("\n"):
            break
        kind, nodes = json.loads(line)
        if kind == "found":
            found = tuple(nodes)
        elif kind == "failed":
            failed += nodes
        else:
            ended |= {*nodes}
    return Followed(found, frozenset(ended), tuple(failed))


def tell_left_out(files: list[str], followed: Followed) -> None:
    """Name the tests that a change can reach and that have not run."""
    not_ended = Counter(node.partition("::")[0] for node in followed.found if node not in followed.ended)
    if files or not_ended:
        print("skipped; make test runs them:")
    for file, count in not_ended.items():
        print(f"  {file}: {count} tests")
    for folder, count in Counter(str(Path(file).parent) for file in files).items():
        print(f"  {folder}: {count} files")


if __name__ == "__main__":
    sys.exit(main())
