"""Costs and gains of remote execution, with a real server and local workers.

    .venv/bin/python tools/bench_remote.py                       actions that only sleep, 1 to 16 workers
    .venv/bin/python tools/bench_remote.py --matrix --models 30  3 boards with so many models, here and with 1 and 2 workers

Workers are processes on this machine. Needs the tools that `make setup-tests` installs. On a
machine with few processors, workers compete with each other and with the server: only processor
times, bytes, and the overhead of actions that need no processor can be transferred to a farm.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "site_scons"), str(ROOT / "tests")]

from n6build.engine.remote.address import Access, parse_address  # noqa: E402
from n6build.engine.remote.connection import Connection, connected  # noqa: E402
from n6build.engine.remote.execute import Progress, execute  # noqa: E402
from n6build.engine.remote.messages import message  # noqa: E402
from n6build.engine.remote.store import blob_of, upload  # noqa: E402
from remote.farm import Farm, running_farm  # noqa: E402

COPIED = ("SConstruct", "site_scons", "boards", "models", "firmware", "tools")
# Long limits keep a slow machine from giving up.
PATIENT = {"N6BUILD_REMOTE_TIMEOUT": "600", "N6BUILD_REMOTE_PATIENCE": "600"}
MODEL = "miniresnet"


def main() -> None:
    """Print tables in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--matrix", action="store_true", help="builds instead of sleeping actions")
    parser.add_argument("--models", type=int, default=30, help="of the matrix")
    parser.add_argument("--boards", default="all", help="of the matrix, a,b or all")
    parser.add_argument("--workers", default="", help="numbers of workers, a,b")
    parser.add_argument("--seconds", type=float, default=1.0, help="seconds that an action sleeps")
    arguments = parser.parse_args()
    if arguments.matrix:
        matrix(_numbers(arguments.workers or "1,2"), arguments.models, arguments.boards)
    else:
        sleeping(_numbers(arguments.workers or "1,2,4,8,16"), arguments.seconds)


def sleeping(counts: Sequence[int], seconds: float) -> None:
    """Print the time of four actions for each worker, all started at once.

    They should take four times as long as one.
    """
    print("| workers | actions | at best | took | overhead an action | processor of the client an action |")
    print("|---|---|---|---|---|---|")
    with running_farm() as farm:
        for count in sorted(counts):
            _grow(farm, count, [])
            took, client = _slept(farm, 4 * count, seconds, salt=str(count))
            each = took / 4 - seconds
            print(
                f"| {count} | {4 * count} | {4 * seconds:.1f} s | {took:.2f} s | {each * 1000:.0f} ms "
                f"| {client / (4 * count) * 1000:.1f} ms |",
                flush=True,
            )


def _slept(farm: Farm, actions: int, seconds: float, salt: str) -> tuple[float, float]:
    """Return the seconds of all actions, and those of this process's processor."""
    with connected(parse_address(farm.address), Access(timeout_s=60)) as connection:

        def one(number: int) -> None:
            _sleep(connection, seconds, f"{salt} {number}")

        began, cpu = time.monotonic(), _cpu(resource.RUSAGE_SELF)
        with ThreadPoolExecutor(actions) as pool:
            list(pool.map(one, range(actions)))
        return time.monotonic() - began, _cpu(resource.RUSAGE_SELF) - cpu


def _sleep(connection: Connection, seconds: float, salt: str) -> None:
    nothing = blob_of(b"")
    command = blob_of(message("Command", arguments=["/bin/sleep", str(seconds)]).SerializeToString())
    digests = {"command_digest": command.digest.message(), "input_root_digest": nothing.digest.message()}
    # The server would do equal actions only once.
    action = blob_of(message("Action", **digests, salt=salt.encode()).SerializeToString())
    upload(connection, [command, action, nothing])
    if execute(connection, action.digest, Progress(600)).result.exit_code:
        raise SystemExit("an action failed")


def matrix(counts: Sequence[int], models: int, boards: str) -> None:
    """Print the rows of matrix builds.

    Each row begins without anything built, and with a server that knows nothing; the last one
    begins with the results of the one before.
    """
    print(
        "| where | took | load before and after | processor of scons and what it starts | of workers | of the server | told |"
    )
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="n6bench-") as folder:
        project = _project(Path(folder), models)
        names = ",".join(_model(number) for number in range(models))
        chosen = [f"boards={boards}", f"models={names}", "matrix"]
        _report("here, -j2", project, ["-j2", *chosen], None)
        for count in sorted(counts):
            with running_farm() as farm:
                _grow(farm, count, _platform())
                there = [f"remote={farm.address}", *chosen]
                _report(f"{count} worker{'s' if count > 1 else ''}", project, there, farm)
                if count == max(counts):
                    _report("again, all known", project, there, farm)


def _report(what: str, project: Path, arguments: list[str], farm: Farm | None) -> None:
    """Print a row; processor times are those of the build alone."""
    shutil.rmtree(project / "build", ignore_errors=True)
    environment = {**os.environ, **PATIENT, "PYTHONPATH": str(project / "site_scons")}
    workers = [process.pid for process in farm.workers.values()] if farm else []
    servers = [farm.server.pid, farm.database.pid] if farm else []
    before = [_cpu(resource.RUSAGE_CHILDREN), _of_processes(workers), _of_processes(servers)]
    began, load = time.monotonic(), os.getloadavg()[0]
    done = subprocess.run(
        [sys.executable, "-m", "SCons", "-Q", *arguments],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    took = time.monotonic() - began
    after = [_cpu(resource.RUSAGE_CHILDREN), _of_processes(workers), _of_processes(servers)]
    used = " | ".join(f"{late - early:.0f} s" for early, late in zip(before, after, strict=True))
    told = [line.strip().partition(", ")[2] for line in done.stdout.splitlines() if line.strip().startswith("Remote ")]
    passed = [line.strip() for line in done.stdout.splitlines() if line.strip().startswith("Matrix ")]
    if not passed:
        raise SystemExit(done.stdout[-2000:] + done.stderr[-2000:])
    loads = f"{load:.0f}, {os.getloadavg()[0]:.0f}"
    print(f"| {what} | {took:.0f} s | {loads} | {used} | {'; '.join(told) or '-'} |", flush=True)
    print(f"{passed[-1]}", file=sys.stderr, flush=True)


def _of_processes(pids: Sequence[int]) -> float:
    """Return the processor seconds of these processes and all their children.

    Processes that have ended are included.
    """
    parents: dict[int, list[int]] = {}
    times: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        # A process may end meanwhile.
        with contextlib.suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            parents.setdefault(int(fields[1]), []).append(int(path.parent.name))
            times[int(path.parent.name)] = sum(map(int, fields[11:15]))
    found, rest = 0, [*pids]
    while rest:
        pid = rest.pop()
        found += times.get(pid, 0)
        rest += parents.get(pid, [])
    return found / os.sysconf("SC_CLK_TCK")


def _project(folder: Path, models: int) -> Path:
    for name in COPIED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copy(ROOT / name, folder / name)
    for number in range(models):
        made = shutil.copytree(folder / "models" / MODEL, folder / "models" / _model(number)) / "model.yaml"
        made.write_text(made.read_text().replace(f"name: {MODEL}\n", f"name: {_model(number)}\n", 1))
    return folder


def _model(number: int) -> str:
    return f"model{number:02}"


def _platform() -> list[str]:
    command = [sys.executable, "-m", "n6build.cli.worker_platform"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "site_scons")}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()


def _grow(farm: Farm, count: int, properties: Sequence[str]) -> None:
    for number in range(len(farm.workers), count):
        farm.add_worker(f"w{number + 1}", properties=properties)


def _cpu(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def _numbers(text: str) -> list[int]:
    return [int(each) for each in text.split(",")]


if __name__ == "__main__":
    main()
