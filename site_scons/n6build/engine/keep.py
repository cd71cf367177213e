"""Records of builds that did nothing, for `n6build.engine.ask`.

A record has all that a build looked at, collected from several sources: uses that
`n6build.base.files` has noted, files and folders that Python's audit hook sees opened and listed,
the modules and libraries of the process, the ledger (headers, and files that compilers and
functions have read), and the build system's own files. Nothing is written if one of them may have
changed meanwhile, or if a program was started, since the files that it looked at are not known.
"""

from __future__ import annotations

import glob
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from n6build.base import uses
from n6build.base.errors import N6Error
from n6build.base.files import write_atomically
from n6build.engine import ask
from n6build.engine.known_files import states_of_code
from n6build.engine.ledger import FOLDER
from n6build.engine.perform import Site
from n6build.engine.progress import LAST_ERROR
from n6build.engine.step import Step

# As in n6build.base.uses: a file that changed this shortly before may change again without getting another time stamp.
_YOUNG_NS = 2_000_000_000
# Largest difference between the clocks of file system and host, and between two clocks over a build.
_APART_NS = 1_000_000_000
_MOST_ANSWERS = 32
_STARTS = frozenset(
    {"subprocess.Popen", "os.posix_spawn", "os.exec", "os.fork", "os.forkpty", "os.system", "socket.connect"}
)
_LISTS = frozenset({"os.listdir", "os.scandir"})
# List of the libraries of this process, on Linux.
_MAPS = "/proc/self/maps"
# Files that a system makes up when they are read.
_NO_FILES = ("/proc/", "/dev/", "/sys/")


@dataclass
class Looked:
    """All that a call has looked at.

    Attributes:
        call: Digest of `ask.call_of`.
        folder: Folder of `ask.folder_of`.
        began: Time before anything was read, in ns.
        since: Monotonic clock and the usual one when the record began, in ns.
        files: Files that were opened, absolute.
        folders: Folders that were listed, absolute.
        uses: Uses that `n6build.base.files` has noted.
        is_sure: Whether this is all.
    """

    call: bytes
    folder: bytes
    began: int
    since: tuple[int, int]
    files: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)
    uses: uses.Uses = field(default_factory=uses.Uses)
    is_sure: bool = True

    def note(self, event: str, arguments: tuple[object, ...]) -> None:
        """Record an event, as an audit hook."""
        if event in _STARTS:
            self.is_sure = False
        elif (event == "open" or event in _LISTS) and isinstance(arguments[0], str | bytes | os.PathLike):
            path = os.path.abspath(os.fsdecode(arguments[0]))
            (self.folders if event in _LISTS else self.files).add(path)


def look(words: list[str], began: int) -> Looked | None:
    """Collect all that this process looks at, to its end.

    Args:
        words: Words of the call.
        began: Time before anything was read, in ns.

    Returns:
        The record; None where no answer can be given.
    """
    if sys.platform == "win32":
        return None
    try:
        call = ask.call_of(words)
    except (ImportError, OSError):
        return None
    looked = Looked(
        call, ask.folder_of(words), began, (time.monotonic_ns(), time.time_ns()), uses=uses.recorded_from_now()
    )
    sys.addaudithook(looked.note)
    return looked


def keep(looked: Looked, told: str, site: Site, goals: Iterable[str], more: Iterable[str] = ()) -> bool:
    """Write the answer to a call, and return whether it was written.

    Args:
        looked: Record of the call.
        told: Output of the call.
        site: Site of the build.
        goals: Goals of the site's plan, or files, that were requested and are up to date.
        more: Further paths that the build system looked at.
    """
    files = [file for goal in goals for file in site.plan.goals.get(goal, (os.path.normpath(goal),))]
    steps = site.plan.behind(files)
    # A step that always runs may look at a board.
    if not looked.is_sure or site.done or site.failed or any(step.always for step in steps):
        return False
    if not all(file in site.plan.makers for file in files):
        return False
    folder = site.build / FOLDER
    if os.path.abspath(os.fsdecode(looked.folder)) != str(folder):
        return False
    states = _states(looked, {*more, *_known_of(site, steps)}, str(folder))
    if states is None or not _clocks_agree(looked, folder / "lock"):
        return False
    path = Path(os.fsdecode(ask.file_of(looked.call, looked.folder)))
    try:
        write_atomically(path, ask.written(looked.call, told.encode(), states))
        _remove_oldest(path.parent)
    except (N6Error, OSError):
        # The answer serves nothing but speed.
        return False
    return True


def _states(looked: Looked, more: set[str], folder: str) -> list[tuple[bytes, bytes]] | None:
    """Return state and path of all, None if something may have changed meanwhile.

    Args:
        looked: Record of the call.
        more: Further paths.
        folder: Folder in which every call writes the lock.
    """
    listed = {*looked.folders, *(use.path for use in looked.uses.lines if use.kind == "listing"), *_import_folders()}
    named = {*looked.files, *more, *(use.path for use in looked.uses.lines), *_interpreter(), *listed}
    limit = looked.began - _YOUNG_NS
    found = []
    try:
        for path in sorted(named):
            # Python itself compares compiled code with its source.
            if path.startswith(_NO_FILES) or path == os.path.join(folder, "lock") or "/__pycache__/" in path:
                continue
            encoded = os.fsencode(path)
            state = _state(encoded, path in listed, limit)
            if not state or b"\0" in encoded:
                return None
            found.append((state, encoded))
    except (OSError, ValueError):
        return None
    return list(_needed(found))


def _needed(states: list[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
    """Yield the states that do not follow from others.

    A file is absent as long as the content of its folder is the same, and a path with something in
    it is a folder.
    """
    whole = {path for state, path in states if state != ask.ABSENT and not state.startswith(b"/")}
    above = {path[: match.start()] for path in whole for match in re.finditer(b"/", path)}
    here = os.getcwdb() + b"/"
    for state, path in states:
        if (state == ask.ABSENT and os.path.dirname(path) in whole) or (state.startswith(b"/") and path in above):
            continue
        # Shorter paths are faster.
        yield state, path.removeprefix(here)


def _state(path: bytes, is_listed: bool, limit: int) -> bytes:
    """Return the state of a path, empty if it is younger than `limit`."""
    state = ask.state_of(path)
    if state == ask.ABSENT:
        return state if _is_settled(_nearest(path), limit) else b""
    if os.path.isdir(path) and not is_listed:
        return ask.state_of(path, b"/")
    return state if _is_settled(path, limit) else b""


def _nearest(path: bytes) -> bytes:
    """Return the folder whose content would change if there were such a file."""
    while True:
        path = os.path.dirname(path)
        if os.path.isdir(path):
            return path


def _is_settled(path: bytes, limit: int) -> bool:
    found = os.stat(path)
    return max(found.st_mtime_ns, found.st_ctime_ns) < limit


def _clocks_agree(looked: Looked, lock: Path) -> bool:
    """Return whether the clock was not set meanwhile, and is that of the file system.

    Args:
        looked: Record of the call.
        lock: A file that this call has written.
    """
    passed = time.monotonic_ns() - looked.since[0]
    written = lock.stat().st_mtime_ns
    return (
        abs(time.time_ns() - looked.since[1] - passed) < _APART_NS
        and looked.began - _APART_NS < written < time.time_ns() + _APART_NS
    )


def _known_of(site: Site, steps: Iterable[Step]) -> Iterator[str]:
    """Yield the files that steps have read and made, and records of earlier builds."""
    for step in steps:
        yield from _absolute(site, (*step.outputs, *step.sources, *step.templates, *step.state))
        if step.depfile:
            yield from _absolute(site, (step.depfile,))
        entry = site.ledger.entries.get(step.name)
        if entry is not None:
            yield from _absolute(site, (*entry.inputs, *entry.outputs))
    yield from (path for path, _ in states_of_code(site.code))
    yield str(site.ledger.path)
    # The build itself removes this file, and the front removes nothing.
    yield str(site.build / LAST_ERROR)


def _absolute(site: Site, paths: Iterable[str]) -> Iterator[str]:
    return (os.path.normpath(os.path.join(site.top, path)) for path in paths)


def _import_folders() -> set[str]:
    """Return the folders where Python looked for modules.

    A module that appears there may come before another.
    """
    packages = (each for module in list(sys.modules.values()) for each in getattr(module, "__path__", ()))
    return {os.path.abspath(path) for path in (*sys.path, *sys.path_importer_cache, *packages)}


def _interpreter() -> set[str]:
    """Return the program, its libraries and modules, and the files with their places."""
    found = {os.path.abspath(path) for path in (sys.executable, sys.argv[0], os.path.join(sys.prefix, "pyvenv.cfg"))}
    for module in list(sys.modules.values()):
        path = getattr(module, "__file__", None)
        if isinstance(path, str):
            found.add(os.path.abspath(path))
    for folder in _import_folders():
        found.update(glob.glob(f"{glob.escape(folder)}/*.pth"))
    if os.path.exists(_MAPS):
        with open(_MAPS, "rb") as maps:
            found.update(os.fsdecode(line[line.index(b"/") :].rstrip(b"\n")) for line in maps if b"/" in line)
    return found


def _remove_oldest(folder: Path) -> None:
    answers = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns, reverse=True)
    for path in answers[_MOST_ANSWERS:]:
        path.unlink(missing_ok=True)
