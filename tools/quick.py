"""Lint, and the tests that a change can reach, in half a minute: `make quick`, after every edit.

    .venv/bin/python tools/quick.py              what differs from the last commit, or that commit if nothing does
    .venv/bin/python tools/quick.py --since main

The most direct tests run first. What time does not suffice for is named at the end; `make test` runs it.
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
# More files take longer to import than their tests may take.
MOST_FILES = 40
CHECKED = ("SConstruct", "site_scons", "tests", "tools", "models")
LINT = {
    "ruff check": ("ruff", "check", "--quiet", *CHECKED),
    "ruff format": ("ruff", "format", "--check", *CHECKED),
    "mypy": ("mypy",),
    "mypy of tools": ("mypy", "tools", "SConstruct"),
    "import contracts": ("lint-imports", "--no-logo"),
}


@dataclass(frozen=True)
class Followed:
    """What quick_plugin wrote of a run of pytest: names of tests."""

    found: tuple[str, ...]
    ended: frozenset[str]
    failed: tuple[str, ...]


def main() -> int:
    """Exit status: 0, 1 if something is wrong."""
    start = time.monotonic()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--since", default="HEAD", help="a commit; default: the last one")
    parser.add_argument("--seconds", type=float, default=LIMIT_S, help="after which tests are ended")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="tests at a time")
    arguments = parser.parse_args()
    changed = changed_files(arguments.since) or changed_files("HEAD~1")
    reached = distances(read_tree(ROOT), changed)
    chosen = [test for test in reached if not is_build(test) or reached[test] == 0][:MOST_FILES]
    print(f"changed: {', '.join(changed)}\n{len(chosen)} of {len(reached)} test files that it reaches", flush=True)
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
    """Paths that differ from a commit, those that are not under version control yet, and those that are gone."""
    differ = git("diff", "--name-only", since, "--")
    return sorted({*differ, *(git("ls-files", "--others", "--exclude-standard") if since != "HEAD~1" else [])})


def git(*arguments: str) -> list[str]:
    """Lines that git prints; its error ends this program."""
    result = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(f"make quick compares with a commit: {result.stderr.strip()}")
    return result.stdout.splitlines()


def started(command: Iterable[str], output: Path, **environment: str) -> subprocess.Popen[bytes]:
    """A program of the environment, in a process group that can be ended; output: a file, or nothing to see it."""
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
    """Wait for it, and end it with all that it has started if it takes too long."""
    try:
        process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return False
    return True


def ended_well(name: str, process: subprocess.Popen[bytes], deadline: float, output: Path) -> bool:
    """Print what is wrong."""
    if not ended_in_time(process, deadline):
        print(f"{name}: left out, it took too long")
        return True
    if process.returncode:
        print(f"{name}:\n{output.read_text()}", flush=True)
    return not process.returncode


def run_tests(files: list[str], jobs: int, deadline: float, log: Path) -> Followed:
    """In the order of the files."""
    count = min(jobs, len(files))
    workers = ["-n", str(count), "--dist", "load", "--maxschedchunk", "4"] if count > 1 else []
    command = ["pytest", "-q", "--no-header", "-r", "N", "--tb", "no", "-p", "quick_plugin", *workers, *files]
    environment = {"PYTHONPATH": "site_scons:tests:tools", "N6BUILD_QUICK": str(log)}
    process = started(command, log, **environment)
    if not ended_in_time(process, deadline):
        print("\nthe time is over", flush=True)
    followed = read_followed(log)
    # Five: nothing found. Whatever else went wrong, while tests were found or at the end, is not a success.
    if process.returncode in (2, 3, 4):
        return Followed(followed.found, followed.ended, (*followed.failed, "pytest"))
    return followed


def read_followed(log: Path) -> Followed:
    """What the plugin has written; its last line may be cut off."""
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
        print("left out, make test runs it:")
    for file, count in not_ended.items():
        print(f"  {file}: {count} tests")
    for folder, count in Counter(str(Path(file).parent) for file in files).items():
        print(f"  {folder}: {count} files")


if __name__ == "__main__":
    sys.exit(main())
