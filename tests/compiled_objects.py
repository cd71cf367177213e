"""C for tests, compiled file by file: what one test run has compiled ccache has for the next, and for its other workers."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path


def compile_objects(folder: Path, sources: Iterable[Path], command: Sequence[str]) -> list[str]:
    """Names of the objects, which are in `folder`. command: compiler and options, in that folder: a path of its headers that
    begins elsewhere would be in what ccache compares."""
    objects = []
    for source in sources:
        objects.append(f"{source.parent.name}_{source.stem}.o")
        subprocess.run([*command, "-c", seen_from(folder, source), "-o", objects[-1]], cwd=folder, check=True)
    return objects


def seen_from(folder: Path, path: Path) -> str:
    """The same for every copy of the project that has the folder: ccache compares the words of the command."""
    return os.path.relpath(path, folder) if path.is_relative_to(folder.absolute().parent) else str(path)
