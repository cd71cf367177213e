"""The time that n6build adds to a host's build with nothing to do.

The host project is built by GNU make, CMake with Ninja, or SCons.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.cli.host_files import CMAKE_FOLDER, MAKEFILE

from benchmarks.measure import FIGURES, ROOT, SETTLED_S, Row, Rows, least, run

FAST = "include $(or $(wildcard build/n6build/n6build.mk),$(shell n6build --makefile),$(error n6build is not in PATH))"
SLOW = "include $(shell n6build --makefile)"
SCONSTRUCT = """
cpu = ["-mcpu=cortex-m55", "-mthumb", "-mfloat-abi=hard"]
env = Environment(CC="arm-none-eabi-gcc", CCFLAGS=[*cpu, "-O2"], CPPPATH=["#drivers"], CPPDEFINES={"GREETING": 0})
env.Append(LINKFLAGS=[*cpu, "-nostartfiles", "--specs=nano.specs", "-Wl,--gc-sections", "-T", File("own_startup/own.ld")])
many = env.Object(Glob("many/*.c"))
Default(many)
"""
NETWORK = f"""
env.Tool("n6", toolpath=["{MAKEFILE.parents[2] / "site_tools"}"])
nn = env.N6Network(model="keyword", board="nucleo-n657")
main = env.Object("with_main", "main.c", CPPPATH=[nn.include])
elf = env.Program("app.elf", [main, "own_startup/startup.c", many, nn.objects], **nn.flags(env))
Default(env.N6Image(elf, nn).files)
"""
NO_NETWORK = """
elf = env.Program("plain.elf", ["own_startup/startup.c", env.Object("plain_main", "main.c", CPPPATH=[]), many])
Default(elf)
"""
MAIN = "int main(void) { return 0; }\n"


def embed(sources: int = 500, repeats: int = 15) -> Rows:
    """Yield the time that n6build adds to a null build of a third-party project."""
    yield FIGURES
    with tempfile.TemporaryDirectory(prefix="n6bench-") as name:
        folder = Path(name)
        command = folder / "bin/n6build"
        command.parent.mkdir()
        command.write_text(f"#!/bin/sh\nexec '{sys.executable}' -P -m n6build \"$@\"\n")
        command.chmod(0o755)
        host = Host(folder, {"PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}"}, sources, repeats)
        yield from _make(host)
        yield _ninja(host)
        yield _scons(host)


@dataclass(frozen=True)
class Host:
    """Copies of the examples with many sources.

    Attributes:
        folder: Folder of the copies.
        environment: Variables of the builds.
        sources: Number of additional C files.
        repeats: Number of measured builds.
    """

    folder: Path
    environment: dict[str, str]
    sources: int
    repeats: int

    def copied(self, example: str, name: str) -> tuple[Path, str]:
        """Return a copy of an example, and the names of its additional sources."""
        root = self.folder / name
        shutil.copytree(ROOT / "examples" / example, root)
        (root / "many").mkdir()
        names = [f"many/part_{number}.c" for number in range(self.sources)]
        for number, source in enumerate(names):
            (root / source).write_text(f"int part_{number}(void);\nint part_{number}(void) {{ return {number}; }}\n")
        return root, " ".join(names)

    def null_ms(self, root: Path, command: Sequence[str], *before: Sequence[str]) -> float:
        """Return the processor's time of a command with nothing to do.

        Args:
            root: Folder of the project.
            command: Command of the build.
            before: Commands in front of the first build.
        """
        for each in before:
            run(each, root, self.environment)
        for _ in range(3):
            run(command, root, self.environment)
            time.sleep(SETTLED_S)
        return 1000 * least(run(command, root, self.environment) for _ in range(self.repeats)).cpu

    def row(self, tool: str, with_ms: float, without_ms: float, goal: str) -> Row:
        """Return the row of a build tool."""
        name = f"processor time that n6build adds to a null build of {self.sources} C files by {tool}"
        return name, f"{with_ms - without_ms:.0f} ms on {without_ms:.0f} ms", goal


def _without_n6build(text: str) -> str:
    return text[: text.index("# n6build\n")] + text[text.index("# n6build: end\n") :]


def _make(host: Host) -> Rows:
    root, files = host.copied("make", "make")
    makefile = root / "Makefile"
    own = makefile.read_text().replace("SOURCES =", f"SOURCES = {files}")
    assert FAST in own
    times = []
    for text, targets in ((own, ["n6-build"]), (own.replace(FAST, SLOW), ["n6-build"]), (_without_n6build(own), [])):
        makefile.write_text(text)
        times.append(host.null_ms(root, ["make", "-j2", "all", *targets]))
    yield host.row("GNU make", times[0], times[2], "30 ms")
    yield host.row(f"GNU make with `{SLOW}`", times[1], times[2], "")


def _ninja(host: Host) -> Row:
    times = []
    for name in ("with", "without"):
        root, files = host.copied("cmake", f"cmake-{name}")
        text = (root / "CMakeLists.txt").read_text().replace("add_executable(app", f"add_executable(app {files}")
        if name == "without":
            text = _without_n6build(text)
            (root / "src/main.c").write_text(MAIN)
        (root / "CMakeLists.txt").write_text(text)
        configure = ["cmake", "--preset", "release", f"-Dn6build_DIR={CMAKE_FOLDER}"]
        times.append(host.null_ms(root, ["ninja", "-C", "build"], configure))
    return host.row("Ninja", times[0], times[1], "30 ms")


def _scons(host: Host) -> Row:
    root, _ = host.copied("scons", "scons")
    (root / "main.c").write_text(MAIN)
    times = []
    for lines in (NETWORK, NO_NETWORK):
        (root / "SConstruct").write_text(SCONSTRUCT + lines)
        times.append(host.null_ms(root, [sys.executable, "-m", "SCons", "-Q", "-j2"]))
    return host.row("SCons", times[0], times[1], "100 ms")
