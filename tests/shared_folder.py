"""Folders that one process of a test run fills for all of them.

A lock protects the folder and ends with its process.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def shared_folder(tmp_path_factory: pytest.TempPathFactory, name: str) -> Path:
    """Return a folder of all processes of this test run."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    folder.mkdir(exist_ok=True)
    return folder


def made_once(folder: Path, make: Callable[[Path], object]) -> Path:
    """Return the folder, filled once by `make`; an interrupted filling starts again."""
    with locked(folder.with_name(f"{folder.name}.lock")):
        if not (done := folder.with_name(f"{folder.name}.done")).exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            done.touch()
    return folder


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock against the other processes of this test run."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
