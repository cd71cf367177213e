"""The lock of a build folder, which one build at a time may use.

Two builds would corrupt each other's database and outputs.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from n6build.base.console import say
from n6build.base.file_lock import lock, try_lock
from n6build.base.files import cannot_write
from n6build.engine.ledger import FOLDER


def locked_build_folder(build: Path) -> int:
    """Wait until the build folder is free, and lock it.

    A message is printed if it is in use. Programs that are started do not inherit the lock.

    Returns:
        A descriptor that holds the lock until it is closed, at the latest when the process ends.

    Raises:
        N6Error: N6-FILE-001 if the lock cannot be written.
    """
    path = build / FOLDER / "lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise cannot_write(path, error) from error
    if not try_lock(handle):
        other = os.read(handle, 20).decode("ascii", "replace").strip()
        say("Waiting", str(path.parent.parent.name), f"another build is using it (process {other or 'unknown'})")
        lock(handle)
    # The process id helps builds that wait; on a full disk they do without it.
    with suppress(OSError):
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, f"{os.getpid()}\n".encode())
    return handle
