"""The benefit of caches in a second checkout, for docs/caches.md.

The caches are a folder, a server of the Remote Execution API, ccache and sccache, all on this
machine; `make setup-tests` installs them.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from build_grid import SERVERS, build_grid

from benchmarks.measure import Head, Row, Rows, Spent, copied_project, run, scons

Checkouts = Sequence[Path]


def caches() -> Rows:
    """Yield the costs of two builds from nothing, with each kind of cache."""
    yield Head(("cache", "first checkout, processor", "second checkout, processor", "from the cache"))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        checkouts = [copied_project(folder / name) for name in ("first", "second")]
        cache = folder / "cache"
        yield _row("none", [_built(each, {}) for each in checkouts])
        yield _shared("folder", checkouts, str(cache))
        size = sum(each.stat().st_size for each in cache.rglob("*"))
        yield "bytes in the folder", "", "", f"{size / 1e6:.1f} MB"
        with build_grid(folder) as server:
            yield _shared("server (BuildGrid on the loopback)", checkouts, server.address)
        for name, path in (("ccache", os.environ["PATH"]), ("sccache", str(SERVERS))):
            program = shutil.which(name, path=path)
            yield _compiler_cache(folder / name, program, checkouts) if program else (name, "not installed", "", "")


def _row(name: str, built: Sequence[Spent], from_cache: str = "") -> Row:
    return name, *(f"{each.cpu:.1f} s" for each in built), from_cache


def _built(checkout: Path, environment: Mapping[str, str], *arguments: str) -> Spent:
    """Return the cost of a build from nothing."""
    shutil.rmtree(checkout / "build", ignore_errors=True)
    variables = {"XDG_CACHE_HOME": str(SERVERS.parents[2]), **environment}
    return scons(checkout, "probe=virtual", "build", *arguments, environment=variables)


def _shared(name: str, checkouts: Checkouts, cache: str) -> Row:
    built = [_built(each, {}, f"cache={cache}") for each in checkouts]
    summary = re.search(r"^ *Cache \S+, (.*)$", built[1].output, re.MULTILINE)
    return _row(name, built, summary[1] if summary else "no summary")


def _compiler_cache(home: Path, program: str, checkouts: Checkouts) -> Row:
    """Return the row of a compiler cache: a link with the compiler's name in PATH."""
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "arm-none-eabi-gcc").symlink_to(program)
    environment = {"HOME": str(home), "PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    try:
        first = _built(checkouts[0], environment)
        run([program, "--zero-stats"], environment=environment)
        second = _built(checkouts[1], environment)
        show = "--print-stats" if home.name == "ccache" else "--show-stats"
        shown = run([program, show], environment=environment).output
    finally:
        if home.name == "sccache":
            run([program, "--stop-server"], environment=environment)
    hits = _sum_of(r"(?:direct|preprocessed)_cache_hit|Cache hits", shown)
    total = hits + _sum_of("cache_miss|Cache misses", shown)
    return _row(home.name, [first, second], f"{hits} of {total} compilations")


def _sum_of(names: str, shown: str) -> int:
    return sum(map(int, re.findall(rf"^(?:{names})\s+(\d+)", shown, re.MULTILINE)))
