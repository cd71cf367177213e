"""A lock on an open file, held until the file is closed, at the latest when the process ends."""

from __future__ import annotations

import os
import sys

# Where nothing is written: Windows keeps others from reading what is locked.
_AT = 1 << 30


def lock(file: int) -> None:
    """Waits until nobody else holds it. file: a descriptor."""
    if sys.platform == "win32":
        while not try_lock(file):
            pass  # Each try takes up to ten seconds.
    else:
        import fcntl  # noqa: PLC0415 - lists and help work where there is none.

        fcntl.flock(file, fcntl.LOCK_EX)


def try_lock(file: int) -> bool:
    """Whether it is now held by this process. file: a descriptor."""
    try:
        if sys.platform == "win32":
            import msvcrt  # noqa: PLC0415

            at = os.lseek(file, 0, os.SEEK_CUR)
            os.lseek(file, _AT, os.SEEK_SET)
            try:
                msvcrt.locking(file, msvcrt.LK_LOCK, 1)
            finally:
                os.lseek(file, at, os.SEEK_SET)
        else:
            import fcntl  # noqa: PLC0415

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
