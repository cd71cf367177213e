"""The distribution's gcc with flags adapted for ST's projects.

A script in front of each tool adapts the flags.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.base.foreign_flags import ADDED_FLAGS, UNKNOWN_FLAGS
from n6build.compile.toolchain import PREFIX, find_compiler, which

_COMPILERS = ("gcc", "g++", "cpp")
# Makefiles call these tools in the same folder.
_OTHERS = (
    "ar",
    "as",
    "gdb",
    "gcc-ar",
    "gcc-nm",
    "gcc-ranlib",
    "ld",
    "nm",
    "objcopy",
    "objdump",
    "ranlib",
    "readelf",
    "size",
    "strip",
)
MARK = "# Written by n6build (docs/embedding/gcc-flags.md)"
_TIMEOUT_S = 60


@dataclass(frozen=True)
class AdaptedTools:
    """Scripts in front of a compiler and its tools.

    Attributes:
        compiler: The compiler itself.
        removed: Flags that are not passed on.
        added: Flags after those of the project.
        scripts: Text of each script, by the name of its tool.
    """

    compiler: Path
    removed: tuple[str, ...]
    added: tuple[str, ...]
    scripts: Mapping[str, str]


def adapted_tools(path: str, more: Sequence[str] = (), linked: Sequence[str] = ()) -> AdaptedTools:
    """Return scripts with the names of the compiler and of its tools.

    Args:
        path: Folders in which the tools are searched, as in PATH.
        more: Further flags of the compiler.
        linked: Files that each link gets behind those of the project.

    Raises:
        N6Error: N6-TOOL-001 if there is no compiler.
    """
    compiler = find_compiler(path)
    removed = tuple(flag for flag in UNKNOWN_FLAGS if not _knows(compiler, flag))
    added = tuple(flag for flag in ADDED_FLAGS if _knows(compiler, flag))
    scripts = {}
    for name in _COMPILERS:
        if tool := which(PREFIX + name, path):
            scripts[tool.name] = _script(tool, removed, (*added, *more), linked)
    for name in _OTHERS:
        if tool := which(PREFIX + name, path):
            scripts[tool.name] = _script(tool, (), (), ())
    return AdaptedTools(compiler, removed, added, scripts)


def _script(tool: Path, removed: Sequence[str], added: Sequence[str], linked: Sequence[str]) -> str:
    """Return a shell script that calls a tool with other flags and files."""
    lines = ["#!/bin/sh", MARK]
    if removed:
        cases = "|".join(map(shlex.quote, removed))
        lines.append(f'for flag do shift; case "$flag" in {cases}) ;; *) set -- "$@" "$flag" ;; esac; done')
    if linked:
        lines.append(f'case " $* " in *" -c "*|*" -E "*|*" -S "*) ;; *) set -- "$@" {shlex.join(linked)} ;; esac')
    lines.append(f'exec {shlex.quote(str(tool))} "$@"{"".join(f" {shlex.quote(word)}" for word in added)}')
    return "\n".join(lines) + "\n"


def _knows(compiler: Path, flag: str) -> bool:
    """Return whether a compiler knows a flag; False if it does not answer."""
    command = [str(compiler), flag, "-mcpu=cortex-m55", "-x", "c", "-fsyntax-only", os.devnull]
    try:
        result = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return result.returncode == 0
