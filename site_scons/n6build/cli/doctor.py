"""The tools that n6build uses: versions if found, remedies if missing."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Literal

from n6build.base.environment import CORE_DIR, read_environment
from n6build.base.errors import N6Error
from n6build.board.flash.probes import PROGRAMMERS
from n6build.compile.device_headers import HINT, find_device_headers
from n6build.compile.st_edge_ai.find import find_tool
from n6build.judge.compare.limits import INSTALL
from n6build.judge.npu.uses import modelled_lines


@dataclass(frozen=True)
class ToolStatus:
    """The status of a tool.

    Attributes:
        tool: Name of the tool.
        found: Version or path, None if the tool is missing.
        why: Purpose of the tool.
        fix: Way to get the tool.
        needed: Cases that do not work without the tool.
    """

    tool: str
    found: str | None
    why: str
    fix: str
    needed: Literal["always", "for the virtual board", "for a real board", "for ST's runtime", "if you have it"]


def examine(cmsis: Sequence[str]) -> list[ToolStatus]:
    """Return the status of every tool, in the order in which they are shown.

    Most tools are run to get their version.

    Args:
        cmsis: Folders that option cmsis names.
    """
    return [*(check() for check in _CHECKS), _device_headers(cmsis)]


def not_modelled() -> list[str]:
    """Return a line for each kind of unit with features that the virtual NPU lacks.

    All chips have the same units.
    """
    from n6build.board.virtual_board.build import chips

    return modelled_lines(chips()[0].npu)


def virtual_npu() -> list[str]:
    """Return the lines of `not_modelled` for a console, under a heading."""
    lines = ["  not modelled by the virtual NPU; n6build rejects a network that uses it before the run:"]
    for each in not_modelled():
        lines += textwrap.wrap(each, 118, initial_indent="    ", subsequent_indent="      ")
    return lines


def _python() -> ToolStatus:
    return ToolStatus("python", sys.version.split()[0], "runs the build", "install Python 3.11 or newer", "always")


def _package(name: str, why: str) -> Callable[[], ToolStatus]:
    def check() -> ToolStatus:
        try:
            version: str | None = metadata.version(name)
        except metadata.PackageNotFoundError:
            version = None
        return ToolStatus(name, version, why, "make setup", "always")

    return check


def _interpreter(name: str, models: str) -> Callable[[], ToolStatus]:
    """Return the check of a reference interpreter.

    Without the interpreter, a run compares with stored outputs only.
    """

    def check() -> ToolStatus:
        status = _package(name, f"the reference interpreter of {models} models, for the comparison with runs")()
        return replace(status, fix=INSTALL, needed="if you have it")

    return check


def _command(
    command: str,
    why: str,
    fix: str,
    needed: Literal["always", "for a real board", "if you have it"],
    option: str = "--version",
) -> Callable[[], ToolStatus]:
    def check() -> ToolStatus:
        return ToolStatus(command, _version(command, option), why, fix, needed)

    return check


def _version(command: str, option: str) -> str | None:
    if not shutil.which(command):
        return None
    try:
        result = subprocess.run(
            [command, option], capture_output=True, text=True, timeout=20, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return "found, but does not start"
    match = re.search(r"\d+\.\d+(?:\.\d+)*", result.stdout + result.stderr)
    return match[0] if match else "found, version unknown"


def _newlib() -> ToolStatus:
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
    return ToolStatus(
        "newlib", found, "memcpy and the like for the firmware", "make setup (libnewlib-arm-none-eabi)", "always"
    )


def _emulator() -> ToolStatus:
    from n6build.board.virtual_board.build import chips, find_emulator

    try:
        found: str | None = ", ".join(dict.fromkeys(find_emulator(soc).name for soc in chips()))
    except N6Error:
        found = None
    return ToolStatus(
        "virtual board", found, "flash and run without hardware: probe=virtual", "make setup", "for the virtual board"
    )


def _st_edge_ai() -> ToolStatus:
    """Return the place of ST Edge AI Core; getting its version would take seconds."""
    installation = find_tool(read_environment())
    found = str(installation.root or installation.executable) if installation else None
    fix = f"set {CORE_DIR} to its root; without it, the reference backend runs every epoch on the Cortex-M55"
    return ToolStatus("ST Edge AI Core", found, "compiles for the NPU", fix, "if you have it")


def _device_headers(cmsis: Sequence[str]) -> ToolStatus:
    """Return the status of the device headers, with an error as a build reports it."""
    found, fix = None, HINT
    try:
        if folders := find_device_headers([Path(folder) for folder in cmsis]).folders:
            found = f"in {len(folders)} folders"
    except N6Error as error:
        fix = f"{error.where}: {error.what} ({error.id}); {HINT}"
    why = "CMSIS, device and HAL, for an Appli with ST's runtime; relocatable models do not need them"
    return ToolStatus("device headers", found, why, fix, "for ST's runtime")


def _programmers() -> list[Callable[[], ToolStatus]]:
    """Return the checks of all programmers.

    The first one is listed as needed for a real board; the others are optional.
    """
    checks = []
    for number, each in enumerate(PROGRAMMERS.values()):
        needed: Literal["for a real board", "if you have it"] = "if you have it" if number else "for a real board"
        untried = f", untried with the real {each.name}" if each.untried else ""
        use = f"programs a real board: probe={each.name}{untried}"
        checks.append(_command(each.command, use, each.install, needed))
    return checks


_CHECKS: list[Callable[[], ToolStatus]] = [
    _python,
    _package("scons", "drives the build"),
    _package("tflite", "reads models"),
    _package("onnx", "reads models"),
    _package("pyelftools", "reads programs"),
    _interpreter("ai-edge-litert", ".tflite"),
    _interpreter("onnxruntime", ".onnx"),
    _command("arm-none-eabi-gcc", "compiles FSBL and Appli", "make setup (gcc-arm-none-eabi)", "always"),
    _newlib,
    _emulator,
    _command("dot", "draws plans: target plan, and the report", "install graphviz", "if you have it", "-V"),
    _command("gdb-multiarch", "debugs: gdb=1", "install gdb-multiarch", "if you have it"),
    *_programmers(),
    _st_edge_ai,
]
