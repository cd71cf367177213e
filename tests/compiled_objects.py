"""C code for tests, compiled file by file.

So ccache can reuse each object in the next test run and in other workers.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path


def compile_objects(folder: Path, sources: Iterable[Path], command: Sequence[str]) -> list[str]:
    """Compile the sources, and return the names of the objects in `folder`.

    Args:
        command: Compiler and options, run in that folder. Paths of its headers must begin there,
            because ccache compares them.
    """
    objects = []
    for source in sources:
        objects.append(f"{source.parent.name}_{source.stem}.o")
        subprocess.run([*command, "-c", seen_from(folder, source), "-o", objects[-1]], cwd=folder, check=True)
    return objects


def seen_from(folder: Path, path: Path) -> str:
    """Return a path that is equal in every copy of the project with the folder.

    ccache compares the words of the command.
    """
    return os.path.relpath(path, folder) if path.is_relative_to(folder.absolute().parent) else str(path)
