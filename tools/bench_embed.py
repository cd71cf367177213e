"""What n6build adds to a build with nothing to do of somebody else's project, by GNU make and by CMake with Ninja."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from n6build.embed.places import CMAKE_FOLDER, MAKEFILE

SOURCES = 500
REPEATS = 15
_EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
_FAST = "include $(or $(wildcard build/n6build/n6build.mk),$(shell n6build --makefile),$(error n6build is not in PATH))"


def embedded_speed() -> Iterator[tuple[str, str]]:
    """Names and values of figures. The limit is what issue 16 of the project sets: 30 ms."""
    with tempfile.TemporaryDirectory(prefix="n6bench-") as name:
        folder = Path(name)
        environment = _environment(folder)
        yield from _make(folder / "make", environment)
        if shutil.which("cmake") and shutil.which("ninja"):
            yield from _ninja(folder, environment)


def _make(root: Path, environment: dict[str, str]) -> Iterator[tuple[str, str]]:
    shutil.copytree(_EXAMPLES / "make", root)
    files = _sources(root)
    own = (root / "Makefile").read_text().replace("SOURCES =", f"SOURCES = {' '.join(files)}")
    with_shell = own.replace(_FAST, "include $(shell n6build --makefile)")
    assert with_shell != own
    begin, end = own.index("# n6build\n"), own.index("# n6build: end\n")
    command = ["make", "all", "n6-build"]
    (root / "Makefile").write_text(own)
    _run([*command, "-j2"], root, environment)
    quick = _milliseconds(command, root, environment)
    (root / "Makefile").write_text(with_shell)
    asked = _milliseconds(command, root, environment)
    (root / "Makefile").write_text(own[:begin] + own[end:])
    alone = _milliseconds(["make", "all"], root, environment)
    yield f"null build by make of {SOURCES} C files, without n6build", f"{alone:.0f} ms"
    yield "  n6build adds (limit 30 ms)", f"{quick - alone:.0f} ms"
    yield "  with $(shell n6build --makefile) each time", f"{asked - alone:.0f} ms"


def _ninja(folder: Path, environment: dict[str, str]) -> Iterator[tuple[str, str]]:
    times = []
    for name in ("with", "without"):
        root = folder / name
        shutil.copytree(_EXAMPLES / "cmake", root)
        text = (root / "CMakeLists.txt").read_text()
        text = text.replace("add_executable(app", f"add_executable(app {' '.join(_sources(root))}")
        if name == "without":
            begin, end = text.index("# n6build\n"), text.index("# n6build: end\n")
            text = text[:begin] + text[end:]
            (root / "src/main.c").write_text("int main(void) { return 0; }\n")
        (root / "CMakeLists.txt").write_text(text)
        configure = ["cmake", "--preset", "release", f"-Dn6build_DIR={CMAKE_FOLDER}"]
        _run(configure, root, environment)
        _run(["ninja", "-C", "build"], root, environment)
        times.append(_milliseconds(["ninja", "-C", "build"], root, environment))
    yield f"null build by ninja of {SOURCES} C files, without n6build", f"{times[1]:.0f} ms"
    yield "  n6build adds (limit 30 ms)", f"{times[0] - times[1]:.0f} ms"


def _sources(root: Path) -> list[str]:
    (root / "many").mkdir()
    names = [f"many/part_{number}.c" for number in range(SOURCES)]
    for number, name in enumerate(names):
        (root / name).write_text(f"int part_{number}(void);\nint part_{number}(void) {{ return {number}; }}\n")
    return names


def _environment(folder: Path) -> dict[str, str]:
    """With a command n6build."""
    command = folder / "bin/n6build"
    command.parent.mkdir()
    command.write_text(f"#!/bin/sh\nexec '{sys.executable}' -m n6build \"$@\"\n")
    command.chmod(0o755)
    library = str(MAKEFILE.parents[2])
    return {**os.environ, "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": library}


def _run(command: list[str], root: Path, environment: dict[str, str]) -> None:
    result = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    if result.returncode:
        raise SystemExit(result.stdout + result.stderr)


def _milliseconds(command: list[str], root: Path, environment: dict[str, str]) -> float:
    """The median, after a call that is not counted."""
    _run(command, root, environment)
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        _run(command, root, environment)
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1000


if __name__ == "__main__":
    for figure, value in embedded_speed():
        print(f"{figure:<72}{value}", flush=True)
