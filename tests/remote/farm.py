"""A farm for tests: a real server, its database and workers.

The server is BuildGrid, which has the Remote Execution API, the database is PostgreSQL. All of them
are processes on this machine that listen on the loopback address.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from build_grid import SERVERS, free_port, listens
from patience import NET_S, wait_until
from platformdirs import user_cache_path

HERE = Path(__file__).resolve().parent
# Programs that refuse to run as root run as this user.
_NOBODY = "nobody"
# docs/remote.md requires a server to know all but the first.
KNOWN = ("OSFamily", "n6build-tool-arm-none-eabi-gcc", "n6build-tool-qemu-system-arm", "n6build-python")


@dataclass
class Farm:
    """A running farm.

    Attributes:
        port: Port of the server, on the loopback address.
        folder: Folder of all files, which is removed at the end.
        programs: Folders with the programs of steps, besides the system's folders.
    """

    port: int
    folder: Path
    programs: Sequence[str]
    server: subprocess.Popen[bytes]
    database: subprocess.Popen[bytes]
    workers: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """The server's address in the form of option `remote`."""
        return f"grpc://127.0.0.1:{self.port}"

    def add_worker(self, name: str, *options: str, properties: Sequence[str] = ()) -> None:
        """Start a worker.

        Args:
            name: Name of the worker.
            options: Options of worker.py.
            properties: Properties of the platform.
        """
        command = [
            str(SERVERS / "python"),
            str(HERE / "worker.py"),
            "--server",
            f"127.0.0.1:{self.port}",
            "--name",
            name,
        ]
        command += ["--folder", str(self.folder / name), *options]
        # The worker finds the virtual board by these variables.
        found = {"XDG_CACHE_HOME": str(user_cache_path()), "N6BUILD_QEMU": os.environ.get("N6BUILD_QEMU", "")}
        command += [word for key, value in found.items() for word in ("--variable", f"{key}={value}")]
        command += [word for folder in self.programs for word in ("--program-folder", folder)]
        command += [word for each in properties for word in ("--property", each)]
        log = (self.folder / f"{name}.log").open("ab")
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, env=_environment())
        self.workers[name] = process
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n", (self.folder / f"{name}.log").read_text()

    def kill_server(self) -> None:
        """Kill the server, as a loss of power would."""
        self.server.kill()
        self.server.wait()

    def kill_worker(self, name: str) -> None:
        """Kill a worker, so that it cannot sign off."""
        process = self.workers.pop(name)
        process.kill()
        process.wait()


def postgres_programs() -> Path | None:
    """Return the folder of PostgreSQL's programs, or None if it is not installed.

    Debian keeps initdb out of PATH.
    """
    found = shutil.which("initdb")
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4]))
    return Path(found).resolve().parent if found else places[-1].parent if places else None


@contextlib.contextmanager
def running_farm(*, silence_s: int = NET_S, known: Sequence[str] = KNOWN) -> Iterator[Farm]:
    """Yield a farm, and end all its processes.

    Args:
        silence_s: Time in seconds after which the server takes a worker for dead; more than 4.
        known: Names of properties that the server knows.
    """
    programs = postgres_programs()
    assert programs is not None, "make setup-tests installs PostgreSQL"
    assert (SERVERS / "bgd").is_file(), "make setup-tests installs BuildGrid"
    # Sockets need short names, and the database's user has to reach them, so that pytest's folders do not fit.
    folder = Path(tempfile.mkdtemp(prefix="n6farm-"))
    folder.chmod(0o755)
    try:
        with (
            _database(programs, folder / "db") as (connection, database),
            _server(folder, connection, silence_s, known) as (port, server),
        ):
            farm = Farm(port, folder, _programs(), server, database)
            try:
                yield farm
            finally:
                for name in list(farm.workers):
                    farm.kill_worker(name)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _database(programs: Path, folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Yield the URL of a database and its process; only a socket leads to it."""
    folder.mkdir()
    user = _NOBODY if os.geteuid() == 0 else None
    if user:
        shutil.chown(folder, user)
    environment = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}
    data = folder / "data"
    make = [
        str(programs / "initdb"),
        "--no-sync",
        "--auth=trust",
        "--username=n6build",
        "--encoding=UTF8",
        "-D",
        str(data),
    ]
    subprocess.run(make, check=True, user=user, env=environment, cwd=folder, stdout=subprocess.DEVNULL)
    settings = [
        "fsync=off",
        "synchronous_commit=off",
        "full_page_writes=off",
        "listen_addresses=",
        "shared_buffers=32MB",
    ]
    settings += ["max_connections=200", f"unix_socket_directories={folder}"]
    start = [str(programs / "postgres"), "-D", str(data), *(word for each in settings for word in ("-c", each))]
    with (folder.parent / "db.log").open("wb") as log:
        process = subprocess.Popen(start, user=user, env=environment, cwd=folder, stdout=log, stderr=log)
    try:
        ask = [str(programs / "pg_isready"), "-q", "-h", str(folder)]
        wait_until(lambda: subprocess.run(ask, check=False, env=environment).returncode == 0)
        yield f"postgresql+psycopg2:///postgres?host={folder}&user=n6build", process
    finally:
        # This signal ends the database at once: its content is not needed again.
        process.send_signal(signal.SIGQUIT)
        process.wait()


@contextlib.contextmanager
def _server(
    folder: Path, connection: str, silence_s: int, known: Sequence[str]
) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Yield the server's port and its process."""
    bgd = str(SERVERS / "bgd")
    migrate = [bgd, "migrate", "apply", connection]
    subprocess.run(migrate, check=True, env=_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    port = free_port()
    configuration = folder / "server.yml"
    configuration.write_text(
        _CONFIGURATION.format(
            port=port, connection=connection, store=folder / "cas", silence=silence_s, known=", ".join(known)
        )
    )
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [bgd, "server", "start", str(configuration)], stdout=log, stderr=log, env=_environment(), cwd=folder
        )
    try:
        wait_until(lambda: listens(port) or process.poll() is not None)
        assert process.poll() is None, (folder / "server.log").read_text()
        yield port, process
    finally:
        process.kill()
        process.wait()


def _programs() -> tuple[str, ...]:
    """Return the folders of the tests' Python and of the compiler in use."""
    compiler = shutil.which("arm-none-eabi-gcc")
    return (str(Path(sys.executable).parent), *([str(Path(compiler).parent)] if compiler else []))


def _environment() -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": tempfile.gettempdir(), "LANG": "C.UTF-8"}


# An idle worker gets work 30 times a second, a worker that has finished an action gets it with the answer. Without
# these settings the server tries all the time to assign waiting actions, which takes most of its processor.
_CONFIGURATION = """
server:
  - !channel
    address: "127.0.0.1:{port}"
    insecure-mode: true
authorization:
  method: none
connections:
  - !sql-connection &sql
    connection-string: "{connection}"
    pool-size: 20
    max-overflow: 20
storages:
  - !disk-storage &store
    path: "{store}"
caches:
  - !lru-action-cache &results
    storage: *store
    max-cached-refs: 10000
    allow-updates: true
    cache-failed-actions: false
schedulers:
  - !sql-scheduler &scheduler
    sql: *sql
    storage: *store
    action-cache: *results
    poll-interval: 0.05
    bot-session-keepalive-timeout: {silence}
    session-expiry-timer-interval: 1.0
    max-job-attempts: 5
    proactive-fetch-to-capacity: true
    property-set: !dynamic-property-set
      match-property-keys: [{known}]
      wildcard-property-keys: []
    assigners:
      - !priority-age-assigner
        count: 1
        interval: 0.03
        jitter-factor: 0
        busy-sleep-factor: 1
        failure-backoff: 2
instances:
  - name: ""
    services:
      - !action-cache
        cache: *results
      - !execution
        scheduler: *scheduler
        operation-stream-keepalive-timeout: 20
      - !cas
        storage: *store
      - !bytestream
        storage: *store
thread-pool-size: 100
"""
