"""Builds in a copy of the project: commands of a user, in processes of their own.

A clean build begins without build folder and without byte code of edited modules; no cache and no
other machine takes part.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from n6build.base.captured import run_in_session
from n6build.base.environment import in_copy
from n6build.base.files import sha256
from n6build.base.paths import LIBRARY, ROOT
from n6build.base.regular_file import content_of
from n6build.engine.ledger import FOLDER, Entry, read_ledger

# No build reads these folders, and they may be large.
_LEFT_OUT = (".git", ".venv", "build", "__pycache__", ".*_cache", ".sconsign*", "node_modules")
# An edited program may not end, ask for all memory, or fill the disk: blocks of 1,024 and of 512 bytes.
_SECONDS = 300
_LIMITED = 'ulimit -v 16777216; ulimit -f 2097152; exec "$@"'
_ERROR = re.compile(r"\berror (N6-[A-Z]+-\d+)|^((?:\w+\.)*\w+(?:Error|Exception|Interrupt|Exit))\b", re.MULTILINE)
# These files describe a build and are not its outputs.
_NOT_MADE = ("last_error.json", "plan.json", "plan.svg", "report.html", "report.txt", "report.json")


@dataclass(frozen=True)
class Built:
    """A build that has ended.

    Attributes:
        error: Id of the error, or name of the exception; empty after a success.
        output: Printed text.
        digests: Path -> SHA-256 of every file in the build folder.
        steps: Names of the steps that ran.
    """

    error: str
    output: str
    digests: Mapping[str, str]
    steps: tuple[str, ...]

    def __str__(self) -> str:
        return self.error or "success"


@dataclass(frozen=True)
class Copy:
    """A copy of the project, and of the library that builds it.

    Attributes:
        folder: Absolute folder of the whole copy.
        project: The copied project, in `folder`.
        library: The copied library with its data, in `folder`; may be in or around the project.
        path: Folder in which Python finds the library.
        client: The incremental builder, n6build or scons.
    """

    folder: Path
    project: Path
    library: Path
    path: Path
    client: str

    @property
    def build_folder(self) -> Path:
        """Return the folder of all build products."""
        return self.project / "build"

    def entries(self) -> dict[str, Entry]:
        """Return the ledger's entry of each step."""
        return read_ledger(self.build_folder, may_write=False).entries

    def incremental(self, words: tuple[str, ...], *, jobs: int | None = None) -> Built:
        """Build on top of the existing outputs, as the client does."""
        before = self.entries()
        counted = f"-j{jobs or os.cpu_count() or 1}"
        program = ("SCons", "-Q") if self.client == "scons" else ("n6build",)
        status, output = self.run("-m", *program, *words, counted)
        steps = tuple(name for name, entry in self.entries().items() if before.get(name) != entry)
        return Built(_error(status, output), output, self._digests(), steps)

    def clean(self, words: tuple[str, ...], *, jobs: int | None = None, opened: Path | None = None) -> Built:
        """Build from nothing.

        Args:
            words: Targets and options.
            jobs: Number of jobs, None for one a processor.
            opened: File that gets the names of all files that were opened.
        """
        shutil.rmtree(self.build_folder, ignore_errors=True)
        program = ("n6build.cli.traced_build", str(opened)) if opened else ("n6build",)
        status, output = self.run("-m", *program, *words, f"-j{jobs or os.cpu_count() or 1}", is_clean=True)
        return Built(_error(status, output), output, self._digests(), tuple(self.entries()))

    def run(self, *words: str, is_clean: bool = False) -> tuple[int, str]:
        """Run Python in the copied project, and return its exit status and output."""
        command = ["/bin/sh", "-c", _LIMITED, "sh", sys.executable, *words]
        environment = in_copy(self.folder, self.path, self._byte_code(is_clean=is_clean))
        try:
            return run_in_session(command, self.project, _SECONDS, environment)
        except subprocess.TimeoutExpired:
            return 1, f"TimeoutError: after {_SECONDS} s"

    def forget(self, modules: Mapping[str, object]) -> None:
        """Remove the byte code of edited modules, which a clean build does not have.

        Args:
            modules: Modules by their paths in `folder`.
        """
        for name in modules:
            self.byte_code_of(str(self.folder / name), is_clean=True).unlink(missing_ok=True)

    def share_byte_code(self) -> None:
        """Give incremental builds the byte code of the first clean one."""
        shutil.copytree(self._byte_code(is_clean=True), self._byte_code(is_clean=False))

    def byte_code_of(self, module: str, *, is_clean: bool) -> Path:
        """Return the file in which Python keeps the byte code of a module.

        Args:
            module: File of the module.
            is_clean: For clean builds.
        """
        path = self._byte_code(is_clean=is_clean) / module.lstrip("/")
        return path.with_suffix(f".{sys.implementation.cache_tag}.pyc")

    def _byte_code(self, *, is_clean: bool) -> Path:
        return self.folder / ("bytecode.clean" if is_clean else "bytecode")

    def _digests(self) -> dict[str, str]:
        top = self.build_folder
        return {
            str(path.relative_to(self.project)): sha256(content_of(path))
            for path in sorted(top.rglob("*"))
            if path.is_file() and path.name not in _NOT_MADE and FOLDER not in path.parts
        }


def copy_of(project: Path, client: str) -> Copy:
    """Copy a project and the library that runs this code."""
    folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="n6build-prove-")))
    # An installed library has its data below it; in a checkout they are around it.
    home = ROOT if ROOT in LIBRARY.parents else LIBRARY
    both = dict.fromkeys((project.resolve(), home))
    tops = [each for each in both if not set(both) & {*each.parents}]
    places = {top: folder / ("project" if number == 0 else "library/n6build") for number, top in enumerate(tops)}
    for top, place in places.items():
        shutil.copytree(top, place, symlinks=True, ignore=shutil.ignore_patterns(*_LEFT_OUT))

    def copied(path: Path) -> Path:
        return next(place / path.relative_to(top) for top, place in places.items() if path.is_relative_to(top))

    for name in ("bin", "home", "tmp"):
        (folder / name).mkdir()
    return Copy(folder, copied(project.resolve()), copied(home), copied(LIBRARY).parent, client)


def _error(status: int, output: str) -> str:
    if not status:
        return ""
    found = _ERROR.findall(output)
    return next(filter(None, found[-1])) if found else f"exit status {status}"
