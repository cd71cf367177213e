"""A bounded walk through the folders of a third-party project.

Links that lead in circles do no harm. Each folder that is read counts as listed, so that a plan
made from the walk is made again if a file appears or goes.
"""

from __future__ import annotations

import os
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from n6build.base import uses
from n6build.base.errors import N6Error
from n6build.base.files import is_folder

# A getting-started application of ST has about 4,000 files, and the whole of STM32Cube_FW_N6 about 40,000.
MAX_ENTRIES = 100_000
# The deepest file of these is 12 folders down.
MAX_DEPTH = 16
# Folders that are passed over: build products, files that no build reads, and n6build itself with its outputs. Build systems
# choose such names.
_PASSED_OVER = (
    "build",
    "n6build",
    "debug",
    "release",
    "cmakefiles",
    "node_modules",
    "__pycache__",
    "venv",
    "site-packages",
)
_BUILD_MARK = "CMakeCache.txt"


@dataclass(frozen=True)
class Folder:
    """A folder of the tree with its files.

    Attributes:
        path: Path of the folder, below the root of the walk.
        files: Sorted names. A link to a file is one of them.
        links: Names of links to folders, which are not followed.
    """

    path: Path
    files: tuple[str, ...]
    links: tuple[str, ...]


@dataclass(frozen=True)
class Tree:
    """Folders of a project, nearest to the root first, then by name.

    Attributes:
        root: Folder with which the walk began.
        folders: The folders.
        unreadable: Folders that could not be read, with the reason.
    """

    root: Path
    folders: tuple[Folder, ...]
    unreadable: tuple[tuple[Path, str], ...] = ()

    def below(self, folder: Path) -> Tree:
        """Return the tree of one of its folders."""
        return Tree(folder, tuple(each for each in self.folders if each.path.is_relative_to(folder)))

    def named(self, *names: str) -> tuple[Path, ...]:
        """Return the files with one of these names, nearest to the root first."""
        return tuple(each.path / name for each in self.folders for name in names if name in each.files)

    def ending(self, *suffixes: str) -> tuple[Path, ...]:
        """Return the files with one of these suffixes in any case.

        Those nearest to the root come first.
        """
        return tuple(
            each.path / name for each in self.folders for name in each.files if name.lower().endswith(suffixes)
        )

    @property
    def links(self) -> tuple[Path, ...]:
        """Return the links to folders, which the walk did not follow."""
        return tuple(each.path / name for each in self.folders for name in each.links)


def walk(root: Path, most: int | None = None, *, skips_unreadable: bool = False) -> Tree:
    """Return the folders and files of a project.

    Args:
        root: Folder to begin with. It may be a link itself; links to folders below it are not
            followed.
        most: Number of files and folders that the walk may meet; None for those of a project.
        skips_unreadable: Whether an unreadable folder is passed over, and named in the result.

    Raises:
        N6Error: N6-FILE-007 for a folder with too many files; N6-FILE-002 for one that cannot be
            read.
    """
    if not is_folder(root):
        raise N6Error("N6-FILE-002", "is not a folder", where=str(root))
    found: list[Folder] = []
    unreadable: list[tuple[Path, str]] = []
    most = MAX_ENTRIES if most is None else most
    left = most
    waiting = deque([(root, 0)])
    while waiting:
        path, depth = waiting.popleft()
        try:
            folder, inner = _listed(path)
        except N6Error as error:
            if not skips_unreadable or path == root:
                raise
            unreadable.append((path, error.what))
            continue
        left -= len(folder.files) + len(folder.links) + len(inner)
        if left < 0:
            what = f"has more than {most:,} files and folders"
            raise N6Error("N6-FILE-007", what, where=str(root), hint="name the folder of a single project")
        if _BUILD_MARK in folder.files and path != root:
            continue
        found.append(folder)
        if depth < MAX_DEPTH:
            waiting.extend((path / name, depth + 1) for name in inner if not _is_passed_over(name))
    return Tree(root, tuple(found), tuple(unreadable))


def _listed(path: Path) -> tuple[Folder, list[str]]:
    """Return the folder, and the names of the folders inside it."""
    uses.note("listing", path, "*")
    files, links, inner = [], [], []
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    inner.append(entry.name)
                    continue
                # A link that leads in a circle is neither.
                with suppress(OSError):
                    if entry.is_dir():
                        links.append(entry.name)
                    elif entry.is_file():
                        files.append(entry.name)
    except OSError as error:
        raise N6Error("N6-FILE-002", f"cannot read: {error.strerror}", where=str(path)) from error
    return Folder(path, tuple(sorted(files)), tuple(sorted(links))), sorted(inner)


def _is_passed_over(name: str) -> bool:
    return name.startswith(".") or name.lower().startswith(_PASSED_OVER)


def nearest(places: tuple[Path, ...], to: Path) -> Path | None:
    """Return the place with the longest common path with `to`, the first of several."""
    return max(places, key=lambda each: _shared(each.parts, to.parts), default=None)


def all_nearest(places: tuple[Path, ...], to: Path) -> tuple[Path, ...]:
    """Return all places with the longest common path with `to`."""
    shared = {place: _shared(place.parts, to.parts) for place in places}
    return tuple(place for place in places if shared[place] == max(shared.values()))


def _shared(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    count = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        count += 1
    return count
