"""One build at a time in a build folder: two would corrupt each other's database and outputs."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.plan.ledger import FOLDER


def locked_build_folder(build: Path) -> int:
    """Waits until the folder is free, and says so. Returns a descriptor that holds the lock until it is closed, at the latest
    when the process ends; programs that are started do not inherit it. Raises N6-FILE-001."""
    path = build / FOLDER / "lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise N6Error("N6-FILE-001", f"cannot write: {error.strerror}", where=str(path)) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        other = os.pread(handle, 20, 0).decode("ascii", "replace").strip()
        say("Waiting", str(path.parent.parent.name), f"another build is using it (process {other or 'unknown'})")
        fcntl.flock(handle, fcntl.LOCK_EX)
    os.ftruncate(handle, 0)
    os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
    return handle
