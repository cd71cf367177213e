"""Checks that the functions of steps only open files that the steps declare.

`files` notes files that are read through it. An audit hook of the interpreter sees accesses that
bypass it: every file that Python code opens and every folder that it lists, in this thread. It does
not see files that a library in machine code or a started program opens: such libraries get bytes,
and such programs a folder of their own.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.paths import LIBRARY, ROOT
from n6build.base.uses import Use, Uses, line_of, names_in, recorded
from n6build.engine.step import Step

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# Suffixes of files that the interpreter reads on its own: code, which the signature covers.
_CODE = (".py", ".pyc", ".so", ".pth")


@dataclass(frozen=True)
class _Opened:
    """A file or folder that Python code has opened or listed.

    Attributes:
        path: Absolute path.
        written: Whether the file was opened for writing.
        listed: Whether it is a folder that was listed.
        line: file:line of the library's code behind it.
    """

    path: str
    written: bool
    listed: bool
    line: str


@dataclass
class _Seen:
    opened: list[_Opened] = field(default_factory=list)


_seen: ContextVar[_Seen | None] = ContextVar("opened", default=None)


@contextmanager
def watched(step: Step, top: Path, build: Path) -> Iterator[Uses]:
    """Check the files that a step uses in the block, when the block ends.

    Args:
        step: The step.
        top: Folder of the project, absolute.
        build: Folder of all build products, absolute.

    Raises:
        N6Error: N6-STEP-001 for a file that the step has read but not declared; N6-STEP-002 for one
            that it has written but not
            declared.
    """
    _install_hook()
    view = _View(step, top, build)
    seen = _Seen()
    token = _seen.set(seen)
    try:
        with recorded(view.sees) as uses:
            yield uses
    finally:
        _seen.reset(token)
    view.check(uses, seen.opened)


@dataclass(frozen=True)
class _View:
    step: Step
    top: Path
    build: Path

    def sees(self, path: str) -> bool:
        """Return whether a path exists for the step.

        In the build folder only declared files exist for it; others may be left over from earlier
        builds.
        """
        return path in self._declared() or not _inside(path, str(self.build)) or self._is_state(path)

    def check(self, uses: Uses, opened: list[_Opened]) -> None:
        # For listings through `files`, the names that counted are known.
        listed = {use.path for use in uses.lines if use.kind == "listing"} | _code_folders()
        for each in opened:
            if each.written:
                self._check_written(each)
            elif not each.path.endswith(_CODE) and not (each.listed and each.path in listed):
                self._check_read(Use("listing" if each.listed else "content", each.path), each.line)
        for use, line in uses.lines.items():
            self._check_read(use, line)

    def _check_read(self, use: Use, line: str) -> None:
        path = use.path
        if path in self._declared() or not self._is_watched(path) or self._is_state(path):
            return
        if use.kind != "content" and _inside(path, str(self.build)):
            return
        if use.kind == "content" and self.step.include_folders and not _inside(path, str(self.build)):
            return  # A header: the engine enters it into the ledger, as it does for a compiler.
        if use.kind == "listing" and use.pattern and self._lists_declared(use):
            return
        did = {"content": "reads", "existence": "looks for", "listing": "lists"}[use.kind]
        raise N6Error(
            "N6-STEP-001",
            f"step {self.step.name} {did} {_shown(path, self.top)} without declaring it",
            where=line or self.step.made_at or None,
            hint="declare it as a source of the step: otherwise a change of the file causes no rebuild",
        )

    def _lists_declared(self, use: Use) -> bool:
        """Return whether all files in the folder are declared.

        Then another file would change the plan.
        """
        return all(os.path.join(use.path, name) in self._declared() for name in names_in(use.path, use.pattern))

    def _check_written(self, opened: _Opened) -> None:
        path = opened.path
        outputs = {self._absolute(output) for output in (*self.step.outputs, self.step.depfile) if output}
        folder, name = os.path.split(path)
        if os.path.basename(folder) == "__pycache__":
            return  # A module that the step imports, compiled by the interpreter.
        # Files are written under a temporary name next to their own, and renamed when they are complete.
        temporary = name.startswith(".") and any(
            folder == os.path.dirname(output) and name.startswith(f".{os.path.basename(output)}.") for output in outputs
        )
        if path in outputs or temporary or not self._is_watched(path) or self._is_state(path):
            return
        raise N6Error(
            "N6-STEP-002",
            f"step {self.step.name} writes {_shown(path, self.top)} without declaring it",
            where=opened.line or self.step.made_at or None,
            hint="declare it as an output of the step: otherwise n6build does not record its inputs",
        )

    def _declared(self) -> frozenset[str]:
        return _declared(self.step, str(self.top))

    def _absolute(self, path: str) -> str:
        return os.path.join(self.top, path)

    def _is_state(self, path: str) -> bool:
        return any(_inside(path, self._absolute(each)) or path == self._absolute(each) for each in self.step.state)

    def _is_watched(self, path: str) -> bool:
        """Return whether the step has to declare a path.

        It is below the checkout, the project or the build folder, or next to a source that is
        elsewhere.
        """
        if any(_inside(path, place) for place in _interpreter()):
            return False
        around = [str(place) for place in (ROOT, self.top, self.build) if _inside(path, str(place))]
        if around:
            own = _folders_of_user()
            return not any(
                _inside(each, place) and (path == each or _inside(path, each)) for place in around for each in own
            )
        folder = os.path.dirname(path)
        if folder == tempfile.gettempdir():
            return False
        return any(folder == os.path.dirname(self._absolute(source)) for source in self.step.sources)


@cache
def _declared(step: Step, top: str) -> frozenset[str]:
    return frozenset(os.path.join(top, path) for path in (*step.sources, *step.templates, *step.outputs))


# Files of the code that lists the folders of sys.path, of which the project's is one in `python -m SCons`.
_IMPORTERS = (
    "<frozen importlib._bootstrap_external>",
    os.path.join(os.path.dirname(os.__file__), "importlib", "metadata", "__init__.py"),
)


def _inside(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip(os.sep) + os.sep)


def _shown(path: str, top: Path) -> str:
    return os.path.relpath(path, top) if _inside(path, str(top)) else path


@cache
def _interpreter() -> tuple[str, ...]:
    """Return the folders of Python; the virtual environment may be in the checkout."""
    return tuple({os.path.abspath(sys.prefix), os.path.abspath(sys.base_prefix)})


def _folders_of_user() -> tuple[str, ...]:
    """Return n6build's own folders of state and cache, which no step declares.

    A project may be the home folder itself; then they are inside it.
    """
    from platformdirs import user_cache_path, user_state_path  # noqa: PLC0415

    return tuple(os.path.abspath(path("n6build")) for path in (user_state_path, user_cache_path))


@cache
def _code_folders() -> frozenset[str]:
    """Return the folders of the library, which Python's importer lists."""
    return frozenset(
        str(path) for path in (LIBRARY.parent, LIBRARY, *(each for each in LIBRARY.rglob("*") if each.is_dir()))
    )


@cache
def _install_hook() -> None:
    """Install the audit hook for the life of the process: it cannot be removed."""
    sys.addaudithook(_hook)


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if event not in ("open", "os.listdir", "os.scandir"):
        return
    seen = _seen.get()
    if seen is None or not arguments or not isinstance(arguments[0], str | bytes | os.PathLike):
        return  # A descriptor that is already open, or not a path.
    caller = sys._getframe(1)
    if caller.f_code.co_name.startswith("_rmtree") and caller.f_code.co_filename == shutil.__file__:
        return  # Names relative to a descriptor, which cannot be resolved; nothing is read.
    if event == "os.listdir" and caller.f_code.co_filename in _IMPORTERS:
        return  # Python looks for a module or a package to import; the signature covers its code.
    path = os.path.abspath(os.fsdecode(arguments[0]))
    flags = arguments[2] if event == "open" and len(arguments) > 2 and isinstance(arguments[2], int) else 0
    seen.opened.append(_Opened(path, bool(flags & _WRITING), event != "open", line_of(caller)))
