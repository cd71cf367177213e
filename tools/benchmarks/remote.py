"""Costs and gains of remote execution, with a real server and local workers.

Workers are processes on this machine. Needs the tools that `make setup-tests` installs. On a
machine with few processors, workers compete with each other and with the server: only processor
times, bytes, and the overhead of actions that need no processor can be transferred to a farm.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from n6build.engine.remote.address import Access, parse_address
from n6build.engine.remote.connection import Connection, connected
from n6build.engine.remote.execute import Progress, execute
from n6build.engine.remote.messages import message
from n6build.engine.remote.store import blob_of, upload
from remote.farm import Farm, running_farm

from benchmarks.measure import Head, Row, Rows, run, scons, temporary_project

# Long limits keep a slow machine from giving up.
PATIENT = {"N6BUILD_REMOTE_TIMEOUT": "600", "N6BUILD_REMOTE_PATIENCE": "600"}
MODEL = "miniresnet"


def remote(workers: str = "1,2,4,8,16", seconds: float = 1.0) -> Rows:
    """Yield the time of four sleeping actions for each worker, all started at once.

    They should take four times as long as one.
    """
    yield Head(("workers", "actions", "at best", "took", "overhead an action", "processor of the client an action"))
    with running_farm() as farm:
        for count in map(int, workers.split(",")):
            _grow(farm, count, [])
            actions = 4 * count
            took, client = _slept(farm, actions, seconds)
            overhead, each = f"{(took / 4 - seconds) * 1000:.0f} ms", f"{client / actions * 1000:.1f} ms"
            yield str(count), str(actions), f"{4 * seconds:.1f} s", f"{took:.2f} s", overhead, each


def _slept(farm: Farm, actions: int, seconds: float) -> tuple[float, float]:
    """Return the seconds of all actions, and those of this process's processor."""
    with connected(parse_address(farm.address), Access(timeout_s=60)) as connection:

        def one(number: int) -> None:
            # The server would do equal actions only once.
            _sleep(connection, seconds, f"{actions} {number}")

        began, cpu = time.monotonic(), time.process_time()
        with ThreadPoolExecutor(actions) as pool:
            list(pool.map(one, range(actions)))
        return time.monotonic() - began, time.process_time() - cpu


def _sleep(connection: Connection, seconds: float, salt: str) -> None:
    nothing = blob_of(b"")
    command = blob_of(message("Command", arguments=["/bin/sleep", str(seconds)]).SerializeToString())
    digests = {"command_digest": command.digest.message(), "input_root_digest": nothing.digest.message()}
    action = blob_of(message("Action", **digests, salt=salt.encode()).SerializeToString())
    upload(connection, [command, action, nothing])
    if execute(connection, action.digest, Progress(600)).result.exit_code:
        raise SystemExit("an action failed")


def remote_matrix(models: int = 30, boards: str = "all", workers: str = "1,2") -> Rows:
    """Yield the costs of matrix builds with numbers of workers.

    Each row begins without anything built, and with a server that knows nothing; the last one
    begins with the results of the one before.
    """
    times = "processor of scons and what it starts", "of workers", "of the server"
    yield Head(("where", "took", "load before and after", *times, "output"))
    with temporary_project() as project:
        names = [f"model{number:02}" for number in range(models)]
        for name in names:
            described = shutil.copytree(project / "models" / MODEL, project / "models" / name) / "model.yaml"
            described.write_text(described.read_text().replace(f"name: {MODEL}\n", f"name: {name}\n", 1))
        chosen = [f"boards={boards}", f"models={','.join(names)}", "matrix"]
        yield _matrix_row("here, -j2", project, chosen, None)
        properties = run([sys.executable, "-m", "n6build.cli.worker_platform"]).output.split()
        for count in map(int, workers.split(",")):
            with running_farm() as farm:
                _grow(farm, count, properties)
                yield _matrix_row(f"{count} worker{'s' if count > 1 else ''}", project, chosen, farm)
                if count == int(workers.rpartition(",")[2]):
                    yield _matrix_row("again, all known", project, chosen, farm)


def _matrix_row(name: str, project: Path, arguments: Sequence[str], farm: Farm | None) -> Row:
    shutil.rmtree(project / "build", ignore_errors=True)
    processes = (
        ([each.pid for each in farm.workers.values()], [farm.server.pid, farm.database.pid]) if farm else ([], [])
    )
    load, before = os.getloadavg()[0], [*map(_processor_time, processes)]
    # Without -j, n6build begins so many steps at a time with workers.
    there = [f"remote={farm.address}", "-j32"] if farm else []
    spent = scons(project, *there, *arguments, environment=PATIENT)
    used = (late - early for early, late in zip(before, map(_processor_time, processes), strict=True))
    done = re.findall(r"^ *Remote .*?, (.*)$", spent.output, re.MULTILINE)
    loads = f"{load:.0f}, {os.getloadavg()[0]:.0f}"
    times = (f"{each:.0f} s" for each in (spent.cpu, *used))
    return name, f"{spent.wall:.0f} s", loads, *times, "; ".join(done) or "-"


def _processor_time(pids: Sequence[int]) -> float:
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


def _grow(farm: Farm, count: int, properties: Sequence[str]) -> None:
    for number in range(len(farm.workers), count):
        farm.add_worker(f"w{number + 1}", properties=properties)
