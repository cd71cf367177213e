"""Reading, writing and names of files.

Every use is noted, and a file is written completely or not at all. Everything that a step or the
planning of a build reads goes through here; `plan.watch` finds accesses that bypass it.
"""

from __future__ import annotations

import errno
import glob
import hashlib
import json
import os
import re
import shlex
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from n6build.base import uses
from n6build.base.errors import N6Error
from n6build.base.regular_file import LARGEST_FILE, chunks_of, content_of, open_regular, require_replaceable, size_of

P = ParamSpec("P")
T = TypeVar("T")
# Number of random letters in the names that tempfile.mkstemp makes.
_RANDOM_LETTERS = 8

# Git LFS keeps such a text in place of a file that it has not downloaded: a version, then sorted keys, in less than 1024 bytes
# (docs/spec.md of git-lfs, "The Pointer").
_MOST_OF_A_POINTER = 1024
_POINTER = re.compile(rb"version https?://[\w.-]{1,60}/spec/v\d\r?\n[^\0]{0,900}\nsize (\d{1,15})\s{0,9}\Z", re.ASCII)


def write_atomically(path: Path, data: bytes | str, *, durable: bool = False) -> None:
    """Replace the content of a file in one step.

    An interruption or a full disk leaves the old file as it was.

    Args:
        path: The file; its folder is made if there is none.
        data: The new content.
        durable: Whether to force the bytes to the disk before the rename; for records of the
            content of a board, not for build
            products.

    Raises:
        N6Error: N6-FILE-001 if the file cannot be written.
    """
    write_chunks_atomically(path, [data.encode() if isinstance(data, str) else data], durable=durable)


def write_chunks_atomically(path: Path, chunks: Iterable[bytes | memoryview], *, durable: bool = False) -> None:
    """Write a file as `write_atomically` does, from chunks of its content.

    The whole content need not be in memory at once.

    Raises:
        N6Error: N6-FILE-001 if the file cannot be written.
    """
    temporary: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        require_replaceable(path)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as file:
            file.writelines(chunks)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        # mkstemp makes private files; build products get the permissions that the umask leaves.
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)  # noqa: PTH101
        os.replace(temporary, path)  # noqa: PTH105
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def remove_unfinished(path: Path) -> None:
    """Remove temporary files that killed writers of `path` have left beside it.

    The caller has to hold the lock of the build folder: another process may be writing such a file.

    Raises:
        OSError: One of them cannot be removed.
    """
    for left in path.parent.glob(f".{glob.escape(path.name)}.{'?' * _RANDOM_LETTERS}"):
        left.unlink(missing_ok=True)


def cannot_write(path: Path | None, error: OSError) -> N6Error:
    """Return N6-FILE-001, for code that does not write a file as a whole.

    Args:
        path: The file; None if it is not known, as for stdout.
        error: Error of the system.
    """
    hint = "free disk space and build again" if error.errno == errno.ENOSPC else None
    return N6Error("N6-FILE-001", f"cannot write: {error.strerror}", where=str(path) if path else None, hint=hint)


def read_bytes(path: Path) -> bytes:
    """Return the content of a file.

    Raises:
        N6Error: N6-FILE-002 if the file cannot be read; N6-FILE-006 if Git LFS has not downloaded
            it.
    """
    return _read(path, LARGEST_FILE)


def _read(path: Path, most: int) -> bytes:
    uses.note("content", path)
    try:
        data = content_of(path, most)
    except OSError as error:
        raise N6Error("N6-FILE-002", f"cannot read: {error.strerror}", where=str(path)) from error
    _refuse_pointer(path, data)
    return data


def _refuse_pointer(path: Path, data: bytes) -> None:
    """Raise N6-FILE-006 if the file is a pointer of Git LFS.

    Args:
        path: The file.
        data: Content of the file, from its start.
    """
    pointer = _POINTER.match(data) if len(data) < _MOST_OF_A_POINTER else None
    if pointer:
        what = f"is a Git LFS pointer: the file of {int(pointer[1])} bytes was not downloaded"
        folder = shlex.quote(str(path.absolute().parent))
        hint = f"run git -C {folder} lfs pull --include={shlex.quote(path.name)} (before it, once: git lfs install)"
        raise N6Error("N6-FILE-006", what, where=str(path), hint=hint)


def require_content(path: Path) -> None:
    """Refuse a pointer of Git LFS in place of a file that another program reads.

    Raises:
        N6Error: N6-FILE-002 if the file cannot be read; N6-FILE-006 for a pointer.
    """
    if file_size(path) < _MOST_OF_A_POINTER:
        read_bytes(path)


def content_fault(path: Path) -> str:
    """Return why a file is unreadable or a pointer of Git LFS; empty for others."""
    try:
        require_content(path)
    except N6Error as error:
        return error.what
    return ""


def read_text(path: Path) -> str:
    """Return the text of a file, with replacement characters for invalid UTF-8.

    Raises:
        N6Error: N6-FILE-002 if the file cannot be read.
    """
    return read_bytes(path).decode("utf-8", "replace")


def is_file(path: Path) -> bool:
    """Return whether a path is a regular file, or a link to one.

    A step sees only the files of the build folder that it declares.
    """
    uses.note("existence", path)
    return uses.visible(path) and os.path.isfile(path)  # noqa: PTH113 - the name may be one that no file can have


def is_folder(path: Path) -> bool:
    """Return whether a path is a folder, or a link to one."""
    uses.note("existence", path)
    return os.path.isdir(path)  # noqa: PTH112 - as above


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, empty if it cannot be read.

    The file counts as read.
    """
    uses.note("content", path)
    return uses.digest_of(path)


def files_in(folder: Path, pattern: str = "*") -> list[Path]:
    """Return the files and folders in `folder` that match a pattern, sorted.

    The list is empty if there is no such folder.

    Args:
        folder: The folder.
        pattern: Pattern of names, as in a shell.
    """
    uses.note("listing", folder, pattern)
    found = (folder / name for name in uses.names_in(str(folder), pattern))
    return [path for path in found if uses.visible(path)]


def remembered(function: Callable[P, T]) -> Callable[P, T]:
    """Cache the results of a function that reads files and changes nothing.

    A result is used as long as all files behind it are unchanged, and then counts as read again.
    Arguments have to be hashable.
    """
    known: dict[Any, tuple[T, uses.Uses, dict[uses.Use, tuple[str, bool]]]] = {}

    @wraps(function)
    def call(*arguments: P.args, **named: P.kwargs) -> T:
        key = (arguments, tuple(sorted(named.items())))
        if key in known:
            result, used, before = known[key]
            if all(_found(use) == was for use, was in before.items()):
                uses.repeat(used)
                return result
        with uses.recorded() as used:
            result = function(*arguments, **named)
        known[key] = result, used, {use: _found(use) for use in used.lines}
        return result

    return call


def _found(use: uses.Use) -> tuple[str, bool]:
    return uses.fingerprint(use), uses.visible(use.path)


def file_size(path: Path) -> int:
    """Return the size of a file in bytes.

    Raises:
        N6Error: N6-FILE-002 if there is no such file, or if it is not a regular one.
    """
    uses.note("content", path)
    try:
        return size_of(path)
    except OSError as error:
        raise N6Error("N6-FILE-002", f"cannot read: {error.strerror}", where=str(path)) from error


def require_at_most(path: Path, limit: int) -> None:
    """Check the size of a file from outside.

    Args:
        path: The file.
        limit: Largest size in bytes.

    Raises:
        N6Error: N6-FILE-002 if the file cannot be read; N6-FILE-003 if it is larger.
    """
    size = file_size(path)
    if size > limit:
        raise N6Error("N6-FILE-003", f"has {size} bytes, {size - limit} more than the limit", where=path.name)


def read_at_most(path: Path, limit: int) -> bytes:
    """Return the content of a file of at most `limit` bytes.

    Raises:
        N6Error: Errors of `require_at_most` and `read_bytes`.
    """
    require_at_most(path, limit)
    # It may have grown since, but not in memory.
    return _read(path, limit)


def read_in_chunks(
    path: Path, chunk: int = 1 << 20, *, first: int | None = None, offset: int = 0, size: int | None = None
) -> Iterator[bytes]:
    """Yield the content of a file that is too large for memory.

    Args:
        path: The file.
        chunk: Bytes of each chunk.
        first: Bytes of the first chunk; None for `chunk`.
        offset: Start of the part that is read, in bytes.
        size: Bytes of the part that is read; None for all to the end.

    Raises:
        N6Error: N6-FILE-002 if the file cannot be read; N6-FILE-006 if Git LFS has not downloaded
            it.
    """
    uses.note("content", path)
    most = LARGEST_FILE if size is None else size
    try:
        with open_regular(path) as file:
            file.seek(offset)
            for number, data in enumerate(chunks_of(file, chunk, chunk if first is None else first, most)):
                if number == 0:
                    _refuse_pointer(path, data)
                yield data
    except OSError as error:
        raise N6Error("N6-FILE-002", f"cannot read: {error.strerror}", where=str(path)) from error


def read_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file that is too large for memory, without their ends.

    Text behind the last line end is left out, since its writer has not finished it.

    Raises:
        N6Error: N6-FILE-002 if the file cannot be read.
    """
    rest = b""
    for chunk in read_in_chunks(path):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines


def read_part(path: Path, offset: int, size: int | None) -> bytes:
    """Return a part of a file; errors are those of `read_in_chunks`.

    Args:
        path: The file.
        offset: Start of the part, in bytes.
        size: Bytes of the part; None for all to the end.
    """
    return b"".join(read_in_chunks(path, offset=offset, size=size))


def remove_others(folder: Path, keep: Collection[str]) -> None:
    """Delete the files in `folder` whose names are not in `keep`.

    A file that another tool left there would be mistaken for one of n6build.
    """
    if folder.is_dir():
        for path in folder.iterdir():
            if path.name not in keep and path.is_file():
                path.unlink()


def to_json(value: object) -> str:
    """Return stable JSON text.

    Keys are in the order given by the caller; it has two spaces of indent, and one newline at the
    end.
    """
    return json.dumps(value, indent=2, ensure_ascii=True) + "\n"


def sha256(data: bytes) -> str:
    """Return the SHA-256 as 64 hexadecimal digits in lower case."""
    return hashlib.sha256(data).hexdigest()
