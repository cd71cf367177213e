"""A lock on an open file, held until the file is closed or the process ends."""

from __future__ import annotations

import os
import sys

# Offset of the locked byte, behind all content: Windows keeps other processes from reading locked bytes.
_AT = 1 << 30


def lock(file: int) -> None:
    """Wait until no other process holds the lock, and take it.

    Args:
        file: Descriptor of the file.
    """
    if sys.platform == "win32":
        while not try_lock(file):
            pass  # Each try takes up to ten seconds.
    else:
        import fcntl  # noqa: PLC0415 - lists and help work where there is none.

        fcntl.flock(file, fcntl.LOCK_EX)


def try_lock(file: int) -> bool:
    """Try to take the lock, and return whether this process now holds it.

    Args:
        file: Descriptor of the file.
    """
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
