"""Which tools were found, with versions; what is missing, why it matters and what to do about it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from typing import Literal

from n6build.base.environment import CORE_DIR, read_environment
from n6build.base.errors import N6Error
from n6build.flash.probes import PROGRAMMERS
from n6build.network.st_edge_ai.find import find_tool


@dataclass(frozen=True)
class Finding:
    """found: version or path, None where the tool is missing. needed: without it nothing can be built."""

    tool: str
    found: str | None
    why: str
    fix: str
    needed: Literal["always", "for the virtual board", "for a real board", "if you have it"]


def examine() -> list[Finding]:
    return [check() for check in _CHECKS]


def _python() -> Finding:
    return Finding("python", sys.version.split()[0], "runs the build", "install Python 3.11 or newer", "always")


def _package(name: str, why: str) -> Callable[[], Finding]:
    def check() -> Finding:
        try:
            version: str | None = metadata.version(name)
        except metadata.PackageNotFoundError:
            version = None
        return Finding(name, version, why, "make setup", "always")

    return check


def _command(
    command: str, why: str, fix: str, needed: Literal["always", "for a real board", "if you have it"]
) -> Callable[[], Finding]:
    def check() -> Finding:
        return Finding(command, _version(command), why, fix, needed)

    return check


def _version(command: str) -> str | None:
    if not shutil.which(command):
        return None
    try:
        result = subprocess.run(
            [command, "--version"], capture_output=True, text=True, timeout=20, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return "found, but does not answer"
    match = re.search(r"\d+\.\d+(?:\.\d+)*", result.stdout + result.stderr)
    return match[0] if match else "found, version unknown"


def _newlib() -> Finding:
    found = None
    if shutil.which("arm-none-eabi-gcc"):
        result = subprocess.run(
            ["arm-none-eabi-gcc", "-print-file-name=nano.specs"],
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        found = "nano.specs found" if "/" in result.stdout else None
    return Finding(
        "newlib", found, "memcpy and its like for the firmware", "make setup (libnewlib-arm-none-eabi)", "always"
    )


def _emulator() -> Finding:
    from n6build.virtual_board.build import chips, find_emulator

    try:
        found: str | None = ", ".join(dict.fromkeys(find_emulator(soc).name for soc in chips()))
    except N6Error:
        found = None
    return Finding(
        "virtual board", found, "flash and run without hardware: probe=virtual", "make setup", "for the virtual board"
    )


def _st_edge_ai() -> Finding:
    """Where it was found, not its version, which takes seconds to ask."""
    try:
        environment = read_environment()
        installation = find_tool(environment)
        found = str(installation.root or installation.executable) if installation else None
    except N6Error as error:
        found = f"not usable: {error.what}"
    fix = f"{CORE_DIR} names its root; without it the reference backend runs every epoch on the Cortex-M55"
    return Finding("ST Edge AI Core", found, "compiles for the NPU", fix, "if you have it")


def _programmers() -> list[Callable[[], Finding]]:
    """One is needed for a real board: the first."""
    checks = []
    for number, each in enumerate(PROGRAMMERS.values()):
        needed: Literal["for a real board", "if you have it"] = "if you have it" if number else "for a real board"
        checks.append(_command(each.command, f"programs a real board: probe={each.name}", each.install, needed))
    return checks


_CHECKS: list[Callable[[], Finding]] = [
    _python,
    _package("scons", "drives the build"),
    _package("tflite", "reads models"),
    _package("onnx", "reads models"),
    _package("pyelftools", "reads programs"),
    _command("arm-none-eabi-gcc", "compiles FSBL and Appli", "make setup (gcc-arm-none-eabi)", "always"),
    _newlib,
    _emulator,
    _command("gdb-multiarch", "debugs on the virtual board: gdb=1", "install gdb-multiarch", "if you have it"),
    *_programmers(),
    _st_edge_ai,
]
