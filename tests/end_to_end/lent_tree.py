"""A copy of a folder that tests use in turn; each test gets it restored."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from compiled_library import copy_project_file


class LentTree:
    """A restorable copy of a folder.

    Attributes:
        original: The folder that stays unchanged.
        folder: The copy.
        kept: A folder in the copy whose files stay as the last test left them.
    """

    def __init__(self, original: Path, folder: Path, kept: str | None = None) -> None:
        self.original = original
        self.folder = folder
        self.kept = kept
        self.states: dict[str, object] = {}

    def as_it_was(self) -> Path:
        """Restore the files that a test has changed, and return the folder."""
        if not self.states:
            shutil.rmtree(self.folder, ignore_errors=True)
            shutil.copytree(self.original, self.folder, symlinks=True, copy_function=copy_project_file)
            self.states = self._states()
            return self.folder
        found = self._states()
        changed = {name for name in found.keys() | self.states.keys() if found.get(name) != self.states.get(name)}
        changed = {name for name in changed if not self._is_kept(name)}
        # Files are removed before their folders, and folders are made before their files.
        for name in sorted(changed & found.keys(), reverse=True):
            _remove(self.folder / name)
        for name in sorted(changed & self.states.keys()):
            source, target = self.original / name, self.folder / name
            if source.is_dir() and not source.is_symlink():
                target.mkdir(exist_ok=True)
                shutil.copystat(source, target)
            elif source.is_symlink():
                target.symlink_to(source.readlink())
            else:
                copy_project_file(str(source), str(target))
            self.states[name] = _state(target)
        return self.folder

    def _is_kept(self, name: str) -> bool:
        return self.kept is not None and (name == self.kept or name.startswith(f"{self.kept}/"))

    def _states(self) -> dict[str, object]:
        """Return the state of each path in the folder."""
        found: dict[str, object] = {}
        for folder, folders, files in os.walk(self.folder):
            for name in (*folders, *files):
                path = Path(folder, name)
                found[str(path.relative_to(self.folder))] = _state(path)
        return found


def _state(path: Path) -> object:
    """Return a value that differs after each change of the file.

    No test can set the time of a change (ctime) back.
    """
    facts = path.lstat()
    if path.is_dir() and not path.is_symlink():
        # The folder's time changes with each file in it.
        return "folder", facts.st_mode
    if path.suffix == ".pyc":
        # The file is shared with other copies, and each new link changes its ctime.
        return facts.st_size, facts.st_mtime_ns
    return facts.st_mode, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino


def _remove(path: Path) -> None:
    """Remove a file, or a folder that is already empty."""
    if path.is_dir() and not path.is_symlink():
        if not any(path.iterdir()):
            path.rmdir()
    else:
        path.unlink()
