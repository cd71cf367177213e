"""Compiler for ST's projects in a folder of the user."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from n6build.adopt.write import in_the_way
from n6build.base.files import cannot_write, write_atomically
from n6build.base.regular_file import open_regular
from n6build.compile.adapted_tools import MARK, adapted_tools


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
    tools = adapted_tools(elsewhere)
    for name, text in tools.scripts.items():
        _put(folder / name, text)
    return AdaptedCompiler(folder, tools.compiler, tools.removed, tools.added)


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
            return MARK.encode() in file.read(4096)
    except OSError:
        return False
