"""Uses of files by a piece of work: contents, existence, and names in folders.

`files` notes each use here, even if a cached result made reading unnecessary. While a step runs, it
sees only the files of the build folder that it has declared, so that a leftover file cannot change
its outputs.
"""

from __future__ import annotations

import fnmatch
import hashlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Literal

from n6build.base.regular_file import chunks_of, open_regular

Kind = Literal["content", "existence", "listing"]
_BASE = os.path.dirname(os.path.abspath(__file__))
_LIBRARY = os.path.dirname(_BASE)
_NOT_THE_READER = frozenset({os.path.join(_BASE, name) for name in ("uses.py", "files.py", "regular_file.py")})
# A file changed just before it was hashed may change again without getting another time stamp.
_YOUNG_NS = 2_000_000_000

State = tuple[int, int, int, int]
# A young file of at least this size is not read again in the same process.
LARGE_BYTES = 1 << 20


@dataclass(frozen=True)
class Known:
    """A known digest of a file.

    Attributes:
        state: State of the file when it was read.
        digest: SHA-256.
        settled: Whether the file was old enough when it was read; the digest of a young file holds
            only in this process.
    """

    state: State
    digest: str
    settled: bool


_digests: dict[str, Known] = {}
_trusts_earlier_builds = True


@dataclass(frozen=True)
class Use:
    """A use of a file or folder.

    Attributes:
        kind: Whether the content, the existence or a listing is used.
        path: Absolute path.
        pattern: Pattern of the names that count in a listing.
    """

    kind: Kind
    path: str
    pattern: str = ""


@dataclass
class Uses:
    """The uses of a piece of work.

    Attributes:
        lines: Place of each use, as file:line.
        sees: Function that returns whether a file exists for this work; None if it may look at
            anything.
    """

    lines: dict[Use, str] = field(default_factory=dict)
    sees: Callable[[str], bool] | None = None


_current: ContextVar[Uses | None] = ContextVar("uses", default=None)


@contextmanager
def recorded(sees: Callable[[str], bool] | None = None) -> Iterator[Uses]:
    """Collect the uses of this thread inside the block.

    They count as uses of an enclosing block as well.
    """
    outer = _current.get()
    uses = Uses(sees=sees or (outer.sees if outer else None))
    token = _current.set(uses)
    try:
        yield uses
    finally:
        _current.reset(token)
        if outer is not None:
            for use, line in uses.lines.items():
                outer.lines.setdefault(use, line)


def recorded_from_now() -> Uses:
    """Collect the uses of this thread to its end."""
    uses = Uses()
    _current.set(uses)
    return uses


def note(kind: Kind, path: str | Path, pattern: str = "") -> None:
    """Add a use to the current block of `recorded`, if there is one.

    The use gets the line of library code behind it.
    """
    uses = _current.get()
    if uses is not None:
        use = Use(kind, os.path.abspath(path), pattern)
        if use not in uses.lines:
            uses.lines[use] = line_of(sys._getframe(1))


def repeat(uses: Uses) -> None:
    """Add the uses of a cached result to the current block of `recorded`."""
    current = _current.get()
    if current is not None:
        for use, line in uses.lines.items():
            current.lines.setdefault(use, line)


def visible(path: str | Path) -> bool:
    """Return whether the current block of `recorded` may see this path."""
    uses = _current.get()
    return uses is None or uses.sees is None or uses.sees(os.path.abspath(path))


def line_of(frame: FrameType | None) -> str:
    """Return file:line of the nearest library code in the stack.

    It is empty if there is none.

    Args:
        frame: Frame at which the search starts.
    """
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(_LIBRARY) and file not in _NOT_THE_READER:
            return f"{os.path.relpath(file, os.path.dirname(_LIBRARY))}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def fingerprint(use: Use) -> str:
    """Return a text that is equal as long as the use would give the same result.

    It is empty for a file that does not exist.
    """
    if use.kind == "content":
        return digest_of(use.path)
    if use.kind == "existence":
        return "file" if os.path.isfile(use.path) else "folder" if os.path.isdir(use.path) else ""
    return hashlib.sha256("\0".join(names_in(use.path, use.pattern)).encode("utf-8", "surrogateescape")).hexdigest()


def names_in(folder: str, pattern: str) -> list[str]:
    """Return the sorted names that match a pattern; none if there is no such folder."""
    try:
        return sorted(name for name in os.listdir(folder) if fnmatch.fnmatchcase(name, pattern))
    except (OSError, ValueError):
        return []


def digest_of(path: str | Path) -> str:
    """Return the SHA-256 of a regular file, empty if it cannot be read.

    It is computed once for each state of the file. The state includes change time and inode, which
    cannot be set back.
    """
    path = os.path.abspath(path)
    try:
        state = state_of(path)
        known = _digests.get(path)
        if known is not None and known.state == state:
            return known.digest
        settled = is_settled(state)
        hasher = hashlib.sha256()
        with open_regular(path) as file:
            for chunk in chunks_of(file):
                hasher.update(chunk)
        digest = hasher.hexdigest()
    except (OSError, ValueError):
        return ""
    # Reading a large file again for each step that uses it would take longer than making it.
    if settled or state[0] >= LARGE_BYTES:
        _digests[path] = Known(state, digest, settled)
    return digest


def state_of(path: str | Path) -> State:
    """Return size in bytes, modification and change time in ns, and inode of a file.

    Raises:
        OSError: There is no such file.
    """
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def is_settled(state: State) -> bool:
    """Return whether any change of the file from now on gives it another state."""
    return time.time_ns() - max(state[1], state[2]) > _YOUNG_NS


def distrust_earlier_builds() -> None:
    """Read all contents again in this process, once each.

    An edit through a mapped file (mmap) may change no time: then another content has the same
    state.
    """
    global _trusts_earlier_builds  # noqa: PLW0603 - one build a process
    _trusts_earlier_builds = False
    _digests.clear()


def trusts_earlier_builds() -> bool:
    """Return whether a digest of an earlier build holds for a file in the same state."""
    return _trusts_earlier_builds


def remember_digest(path: str, state: State, digest: str) -> None:
    """Take over a digest that an earlier build computed for this state of the file."""
    if not _trusts_earlier_builds:
        return
    _digests.setdefault(os.path.abspath(path), Known(state, digest, True))


def settled_files() -> dict[str, Known]:
    """Return the digests that later builds may rely on, by absolute path."""
    return {path: known for path, known in sorted(_digests.items()) if known.settled}
