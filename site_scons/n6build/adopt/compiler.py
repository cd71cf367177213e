"""Compiler for ST's projects: the distribution's gcc with adapted flags.

A script in front of each tool adapts the flags.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from n6build.adopt.write import in_the_way
from n6build.base.files import cannot_write, write_atomically
from n6build.base.foreign_flags import ADDED_FLAGS, UNKNOWN_FLAGS
from n6build.base.regular_file import open_regular
from n6build.compile.toolchain import find_compiler, which

PREFIX = "arm-none-eabi-"
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
_MARK = "# Written by n6build adopt --gcc (docs/embedding/gcc-flags.md)"
_TIMEOUT_S = 60


@dataclass(frozen=True)
class AdaptedCompiler:
    """A folder with the compiler.

    Attributes:
        removed: flags that are not passed on.
        added: flags after those of the project.
    """

    folder: Path
    compiler: Path
    removed: tuple[str, ...]
    added: tuple[str, ...]


def write_compiler(folder: Path, path: str) -> AdaptedCompiler:
    """Write scripts with the names of the compiler into a folder.

    Args:
        folder: folder for the scripts only.
        path: folders in which the compiler is searched, as in PATH.

    Raises:
        N6Error: N6-TOOL-001 if there is no compiler; N6-ADOPT-004 for a file of the user in the way;
            N6-FILE-001.
    """
    elsewhere = os.pathsep.join(each for each in path.split(os.pathsep) if not _same(Path(each), folder))
    compiler = find_compiler(elsewhere)
    removed = tuple(flag for flag in UNKNOWN_FLAGS if not _knows(compiler, flag))
    added = tuple(flag for flag in ADDED_FLAGS if _knows(compiler, flag))
    for name in _COMPILERS:
        if tool := which(PREFIX + name, elsewhere):
            _put(folder / tool.name, script(tool, removed, added))
    for name in _OTHERS:
        if tool := which(PREFIX + name, elsewhere):
            _put(folder / tool.name, script(tool, (), ()))
    return AdaptedCompiler(folder, compiler, removed, added)


def script(tool: Path, removed: Sequence[str], added: Sequence[str]) -> str:
    """Return a shell script that calls a tool with other flags.

    Args:
        tool: the tool.
        removed: flags that are not passed on.
        added: flags after all others.
    """
    lines = ["#!/bin/sh", _MARK]
    if removed:
        cases = "|".join(map(shlex.quote, removed))
        lines.append(f'for flag do shift; case "$flag" in {cases}) ;; *) set -- "$@" "$flag" ;; esac; done')
    words = " ".join(map(shlex.quote, added))
    lines.append(f'exec {shlex.quote(str(tool))} "$@"{f" {words}" if words else ""}')
    return "\n".join(lines) + "\n"


def _knows(compiler: Path, flag: str) -> bool:
    """Return whether a compiler knows a flag; False if it does not answer."""
    command = [str(compiler), flag, "-mcpu=cortex-m55", "-x", "c", "-fsyntax-only", os.devnull]
    try:
        result = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return result.returncode == 0


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _put(place: Path, text: str) -> None:
    if place.is_symlink() or (place.exists() and not _is_ours(place)):
        raise in_the_way(place, "the script of a compiler")
    write_atomically(place, text)
    try:
        place.chmod(0o755)
    except OSError as error:
        raise cannot_write(place, error) from error


def _is_ours(place: Path) -> bool:
    try:
        with open_regular(place) as file:
            return _MARK.encode() in file.read(4096)
    except OSError:
        return False
