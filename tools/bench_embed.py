"""The time that n6build adds to a build with nothing to do of a host project.

The host project is built by GNU make, CMake with Ninja, or SCons.
"""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from n6build.cli.places import CMAKE_FOLDER, MAKEFILE

SOURCES = 500
REPEATS = 15
# The front waits until files are so old that it cannot miss a change of them.
SETTLED_S = 2.5
_EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
_FAST = "include $(or $(wildcard build/n6build/n6build.mk),$(shell n6build --makefile),$(error n6build is not in PATH))"
_SCONS = """
cpu = ["-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard"]
env = Environment(CC="arm-none-eabi-gcc", CCFLAGS=[*cpu, "-O2"], CPPPATH=["#drivers"], CPPDEFINES={"GREETING": 0})
env.Append(LINKFLAGS=[*cpu, "-nostartfiles", "--specs=nano.specs", "-Wl,--gc-sections", "-T", File("own_startup/own.ld")])
many = env.Object(Glob("many/*.c"))
Default(many)
"""
_NETWORK = """
env.Tool("n6", toolpath=["TOOLS"])
nn = env.N6Network(model="keyword", board="nucleo-n657")
main = env.Object("with_main", "main.c", CPPPATH=[nn.include])
elf = env.Program("app.elf", [main, "own_startup/startup.c", many, nn.objects], **nn.flags(env))
Default(env.N6Image(elf, nn).files)
"""
_NO_NETWORK = """
elf = env.Program("plain.elf", ["own_startup/startup.c", env.Object("plain_main", "main.c", CPPPATH=[]), many])
Default(elf)
"""


def embedded_speed() -> Iterator[tuple[str, str]]:
    """Yield names and values of figures.

    The limits are the project's own: 30 ms, with SCons 100 ms.
    """
    with tempfile.TemporaryDirectory(prefix="n6bench-") as name:
        folder = Path(name)
        environment = _environment(folder)
        yield from _from_scratch(folder / "first", environment)
        yield from _make(folder / "make", environment)
        yield from _ninja(folder / "cmake", environment)
        yield from _scons(folder / "scons", environment)


def _from_scratch(root: Path, environment: dict[str, str]) -> Iterator[tuple[str, str]]:
    shutil.copytree(_EXAMPLES / "make", root)
    began = _processor_time()
    _run(["make", "-j2", "all", "n6-build"], root, environment)
    yield "examples/make from scratch, processor time (limit 6 s)", f"{_processor_time() - began:.1f} s"


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


def _scons(root: Path, environment: dict[str, str]) -> Iterator[tuple[str, str]]:
    shutil.copytree(_EXAMPLES / "scons", root)
    _sources(root)
    (root / "main.c").write_text("int main(void) { return 0; }\n")
    times = {}
    for name, lines in (("with", _SCONS + _NETWORK), ("without", _SCONS + _NO_NETWORK)):
        (root / "SConstruct").write_text(lines.replace("TOOLS", str(MAKEFILE.parents[2] / "site_tools")))
        _run([sys.executable, "-m", "SCons", "-Q", "-j2"], root, environment)
        times[name] = _milliseconds([sys.executable, "-m", "SCons", "-Q"], root, environment)
    yield f"null build by SCons of {SOURCES} C files, without n6build", f"{times['without']:.0f} ms"
    yield "  n6build adds (limit 100 ms)", f"{times['with'] - times['without']:.0f} ms"


def _sources(root: Path) -> list[str]:
    (root / "many").mkdir()
    names = [f"many/part_{number}.c" for number in range(SOURCES)]
    for number, name in enumerate(names):
        (root / name).write_text(f"int part_{number}(void);\nint part_{number}(void) {{ return {number}; }}\n")
    return names


def _environment(folder: Path) -> dict[str, str]:
    """Return an environment with a command n6build."""
    command = folder / "bin/n6build"
    command.parent.mkdir()
    command.write_text(f"#!/bin/sh\nexec '{sys.executable}' -P -m n6build \"$@\"\n")
    command.chmod(0o755)
    library = str(MAKEFILE.parents[2])
    return {**os.environ, "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": library}


def _run(command: list[str], root: Path, environment: dict[str, str]) -> None:
    result = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    if result.returncode:
        raise SystemExit(result.stdout + result.stderr)


def _milliseconds(command: list[str], root: Path, environment: dict[str, str]) -> float:
    """Return the median processor time, which excludes other work on the machine.

    The first calls are not counted.
    """
    for _ in range(3):
        _run(command, root, environment)
        time.sleep(SETTLED_S)
    times = []
    for _ in range(REPEATS):
        began = _processor_time()
        _run(command, root, environment)
        times.append(_processor_time() - began)
    return statistics.median(times) * 1000


def _processor_time() -> float:
    """Return the seconds of all processes that were started and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    for figure, value in embedded_speed():
        print(f"{figure:<72}{value}", flush=True)
