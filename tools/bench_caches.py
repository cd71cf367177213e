"""The benefit of caches: a first checkout fills one, a second checkout fetches.

    .venv/bin/python tools/bench_caches.py

The caches are a folder, a server of the Remote Execution API, ccache and sccache, all on this
machine; `make setup-tests` installs them. Also a part of `make bench`.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SERVERS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "n6build" / "servers" / "bin"
COPIED = ("SConstruct", "site_scons", "boards", "models", "firmware", "tools")
BUILD = ("-j2", "probe=virtual", "build")
_SERVER = """\
server: [!channel {{address: "127.0.0.1:{port}", insecure-mode: true}}]
storages: [!lru-storage &store {{size: 256M}}]
caches: [!lru-action-cache &actions {{storage: *store, max-cached-refs: 10000, allow-updates: true}}]
instances:
  - name: main
    services: [!cas {{storage: *store}}, !bytestream {{storage: *store}}, !action-cache {{cache: *actions}}]
"""


def main() -> int:
    """Print a line for each figure, and return 0."""
    for name, value in cache_figures():
        print(f"{name:<70} {value}", flush=True)
    return 0


def cache_figures() -> Iterator[tuple[str, str]]:
    """Yield name and value of each figure."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        first, second = (_checkout(folder / name) for name in ("first", "second"))
        yield "caches: without any", _times(_built(first, {}))
        yield from _shared("folder", first, second, f"cache={folder / 'cache'}")
        yield "caches: folder, bytes in it", f"{sum(each.stat().st_size for each in (folder / 'cache').rglob('*')):,}"
        with _server(folder) as address:
            yield from _shared("server", first, second, f"cache={address}")
        yield from _compiler_cache(folder, "ccache", shutil.which("ccache"), first, second)
        yield from _compiler_cache(folder, "sccache", shutil.which("sccache", path=str(SERVERS)), first, second)


def _shared(name: str, first: Path, second: Path, cache: str) -> Iterator[tuple[str, str]]:
    for what, checkout in (("first checkout", first), ("second checkout", second)):
        done = _built(checkout, {}, cache)
        said = re.search(r"^ *Cache \S+, (.*)$", done[2], re.MULTILINE)
        yield f"caches: {name}, {what}", f"{_times(done)}; {said[1] if said else 'nothing said'}"


def _compiler_cache(
    folder: Path, name: str, program: str | None, first: Path, second: Path
) -> Iterator[tuple[str, str]]:
    """Yield the figures of a compiler cache, which is a link with the compiler's name.

    Its folder is the first one of PATH.
    """
    if program is None:
        yield f"caches: {name}", "not installed"
        return
    home = folder / name
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "arm-none-eabi-gcc").symlink_to(program)
    environment = {"HOME": str(home), "PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    zero = ["--zero-stats"]
    show = ["--print-stats"] if name == "ccache" else ["--show-stats"]
    try:
        for what, checkout in (("first checkout", first), ("second checkout", second)):
            subprocess.run([program, *zero], env={**os.environ, **environment}, capture_output=True, check=False)
            done = _built(checkout, environment)
            shown = subprocess.run(
                [program, *show], env={**os.environ, **environment}, capture_output=True, text=True, check=False
            ).stdout
            yield f"caches: {name}, {what}", f"{_times(done)}; {_hits(shown)}"
    finally:
        if name == "sccache":
            command = [program, "--stop-server"]
            subprocess.run(command, env={**os.environ, **environment}, capture_output=True, check=False)


def _hits(shown: str) -> str:
    def number(pattern: str) -> int:
        return sum(map(int, re.findall(pattern, shown, re.MULTILINE)))

    hits = number(r"^(?:direct|preprocessed)_cache_hit\s+(\d+)") + number(r"^Cache hits\s+(\d+)")
    misses = number(r"^cache_miss\s+(\d+)") + number(r"^Cache misses\s+(\d+)")
    return f"{hits} of {hits + misses} compilations from the cache"


def _built(checkout: Path, environment: Mapping[str, str], *arguments: str) -> tuple[float, float, str]:
    """Return wall clock seconds, CPU seconds and output of a build from nothing."""
    shutil.rmtree(checkout / "build", ignore_errors=True)
    command = [sys.executable, "-m", "SCons", "-Q", *BUILD, *arguments]
    given = {
        **os.environ,
        "XDG_CACHE_HOME": str(SERVERS.parents[2]),
        "PYTHONPATH": str(checkout / "site_scons"),
        **environment,
    }
    before, began = _cpu(), time.monotonic()
    done = subprocess.run(command, cwd=checkout, env=given, capture_output=True, text=True, check=True)
    return time.monotonic() - began, _cpu() - before, done.stdout


def _times(done: tuple[float, float, str]) -> str:
    return f"{done[0]:.1f} s, of the processor {done[1]:.1f} s"


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _checkout(folder: Path) -> Path:
    folder.mkdir()
    for name in COPIED:
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy2)(source, folder / name)
    for compiled in folder.rglob("*.pyc"):
        compiled.touch()
    return folder


@contextmanager
def _server(folder: Path) -> Iterator[str]:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    settings = folder / "server.yml"
    settings.write_text(_SERVER.format(port=port))
    with (folder / "server.log").open("w") as log:
        command = [str(SERVERS / "bgd"), "server", "start", str(settings)]
        server = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    try:
        while not _listens(port):
            if server.poll() is not None:
                raise RuntimeError((folder / "server.log").read_text())
            time.sleep(0.1)
        yield f"grpc://127.0.0.1:{port}/main"
    finally:
        server.kill()
        server.wait()


def _listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5):
        return True
    return False


if __name__ == "__main__":
    sys.exit(main())
