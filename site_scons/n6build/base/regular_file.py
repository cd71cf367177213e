"""Opening of files: regular ones only, with the bytes that they have by then.

A device or a FIFO may never end, or wait for ever before it opens. All reading goes through here, so
that a name from a command line, a project or a cache cannot hang a build. Functions raise OSError
like the functions of `os`, so that callers treat such a file as an unreadable one.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

# No input of a build is larger. Hashing this much takes half a minute.
LARGEST_FILE = 4 << 30
CHUNK = 1 << 20
# Windows has none of these flags but O_BINARY. Without O_NONBLOCK, a FIFO that takes the place of a file would wait.
_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_BINARY", "O_CLOEXEC", "O_NONBLOCK", "O_NOCTTY"))
_KINDS = (
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def open_regular(path: str | Path) -> BinaryIO:
    """Open a regular file for reading in binary mode.

    Raises:
        OSError: There is no such file, it is not a regular file, or it is larger than LARGEST_FILE.
    """
    # Opening some devices has effects, such as a tape that rewinds, so the kind is checked before.
    _require_regular(path, os.stat(path))
    handle = os.open(path, _FLAGS)
    try:
        # Another file may have taken the name meanwhile.
        _require_regular(path, os.fstat(handle))
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def require_replaceable(path: str | Path) -> None:
    """Refuse to replace a device, a FIFO, a socket or a folder.

    A rename would remove a device of the system, such as /dev/null.

    Raises:
        OSError: A device, a FIFO, a socket or a folder has this name.
    """
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISLNK(found.st_mode):
        _require_regular(path, found, most=found.st_size)


def size_of(path: str | Path) -> int:
    """Return the size of a regular file in bytes.

    Raises:
        OSError: As for `open_regular`.
    """
    found = os.stat(path)
    _require_regular(path, found)
    return found.st_size


def content_of(path: str | Path, most: int = LARGEST_FILE) -> bytes:
    """Return the content of a regular file, at most its first `most` bytes.

    Raises:
        OSError: As for `open_regular`, and for a file without a size, as in /proc.
    """
    with open_regular(path) as file:
        return b"".join(chunks_of(file, most=most))


def chunks_of(file: BinaryIO, chunk: int = CHUNK, first: int = CHUNK, most: int = LARGEST_FILE) -> Iterator[bytes]:
    """Yield the bytes of an open file that it has now, from its position.

    Bytes that a writer appends meanwhile are left out.

    Args:
        file: File of `open_regular`.
        chunk: Largest number of bytes at once.
        first: The same of the first chunk.
        most: Largest number of bytes in total.

    Raises:
        OSError: The file has more bytes than its size of 0, as files in /proc have.
    """
    size = os.fstat(file.fileno()).st_size
    left, at_once = min(size - file.tell(), most), first
    while left > 0 and (data := file.read(min(left, at_once))):
        yield data
        left, at_once = left - len(data), chunk
    if size == 0 and file.read(1) != b"":
        raise OSError(errno.EINVAL, "it has no size, as a file of the system")


def _require_regular(path: str | Path, found: os.stat_result, most: int = LARGEST_FILE) -> None:
    mode = found.st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        kind = next((kind for is_kind, kind in _KINDS if is_kind(mode)), "of an unknown kind")
        raise OSError(errno.EINVAL, f"it is {kind}, not a regular file", str(path))
    if found.st_size > most:
        raise OSError(errno.EFBIG, f"it has {found.st_size} bytes; the largest file has {most}", str(path))
