"""The Cortex-M55 compiler: its place, its parts, and the flags for all C files."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from n6build.base.bounded import WRONG_FIELDS, parse_json
from n6build.base.captured import run_captured
from n6build.base.environment import Environment
from n6build.base.errors import N6Error
from n6build.base.files import digest_of, files_in, is_file, read_at_most, write_atomically
from n6build.base.regular_file import content_of
from n6build.describe.hardware.cpu import CORTEX_M55
from n6build.engine.command import own_headers
from n6build.engine.step import Tool, canonical

PREFIX = "arm-none-eabi-"
COMPILER = f"{PREFIX}gcc"
ARCHIVER = f"{PREFIX}ar"
CPU = CORTEX_M55.flags
C_FLAGS = (
    "-std=c11",
    *CPU,
    "-O2",
    "-g",
    "-ffunction-sections",
    "-fdata-sections",
    "-Wall",
    "-Wextra",
    "-Werror",
)
NANO = "--specs=nano.specs"
LINK_FLAGS = (
    *CPU,
    "-nostartfiles",
    NANO,
    "-Wl,--gc-sections",
    "-Wl,--build-id=none",
    "-Wl,--nmagic",
    "-Wl,--fatal-warnings",
)
# Programs that the driver starts, and files that it links implicitly.
_PROGRAMS = ("cc1", "as", "collect2", "ld", "ar")
_FILES = ("liblto_plugin.so", "libgcc.a", "libc_nano.a", "libc.a", "libm.a")
# Programs that pass a compiler's command to another one, or reuse an output that it made before.
_IN_FRONT = ("ccache", "sccache", "distcc", "icecc")
_TIMEOUT_S = 60
_NEWLIB_HEADER = "_newlib_version.h"
_MOST_OF_A_HEADER = 1 << 16
_NEWLIB_VERSION = re.compile(r'^#define _NEWLIB_VERSION "(\d{1,4}(?:\.\d{1,4}){1,3})"', re.MULTILINE)
# Any gcc has its libraries in such a folder.
_LIBGCC = re.compile(r"/gcc/[^/]+/(\d{1,4}(?:\.\d{1,4}){0,3})/(?:.*/)?libgcc\.a$")
_NOTE = "compiler.json"


@dataclass(frozen=True)
class Toolchain:
    """The compiler with its flags.

    Attributes:
        command: Name of the compiler in PATH.
        tool: All parts of the compiler, as one digest.
        flags: Flags of the compiler.
        libraries: Versions of the libraries that come with the compiler, by name; unknown ones are left out.
    """

    command: str
    tool: Tool
    flags: tuple[str, ...] = C_FLAGS
    libraries: Mapping[str, str] = field(default_factory=dict)


def which(name: str, path: str) -> Path | None:
    """Return the path of a program, found as by shutil.which.

    Every place that is looked at is noted, so that a program that appears earlier in PATH is
    noticed.
    """
    return next(_all(name, path), None)


def _all(name: str, path: str) -> Iterator[Path]:
    for folder in path.split(os.pathsep):
        candidate = Path(folder or ".") / name
        if is_file(candidate) and os.access(candidate, os.X_OK):
            yield candidate


def _compiler(path: str) -> Path | None:
    """Return the driver itself, and no compiler cache in front of it.

    Compiler caches are put before it as links with its name: they are run, and find the next one in
    PATH as it is found here, but they do not affect the outputs.
    """
    return next((each for each in _all(COMPILER, path) if Path(os.path.realpath(each)).name not in _IN_FRONT), None)


def find_compiler(path: str) -> Path:
    """Return the driver itself, and no compiler cache in front of it.

    Args:
        path: Folders, as in PATH.

    Raises:
        N6Error: N6-TOOL-001 if the compiler is not in PATH.
    """
    driver = _compiler(path)
    if driver is None:
        hint = (
            "run `make setup`, which installs gcc-arm-none-eabi and libnewlib-arm-none-eabi; `scons doctor` "
            "lists the installed tools"
        )
        raise N6Error("N6-TOOL-001", f"the compiler {COMPILER} was not found in PATH", hint=hint)
    return driver


def find_toolchain(environment: Environment, notes: Path | None) -> Toolchain:
    """Return the compiler, with a digest of all its parts.

    Args:
        environment: Variables that the compiler sees.
        notes: Folder for the compiler's answers about its parts. It is queried once for each state
            of its driver. None: nothing
            is kept.

    Raises:
        N6Error: N6-TOOL-001 if the compiler is not in PATH; N6-TOOL-002 if it does not answer or a
            part of it cannot be read.
    """
    driver = find_compiler(environment.path)
    parts = _parts(driver, environment, notes)
    files = [(Path(path).name, path) for path in parts.files]
    for number, folder in enumerate(parts.include_folders):
        files += [(f"{number}/{path.relative_to(folder)}", str(path)) for path in _headers(Path(folder))]
    digests = [(name, digest_of(Path(path))) for name, path in files]
    places = [("place", folder) for folder in parts.unmapped]
    if any(not digest for _, digest in digests):
        missing = next(path for _, path in files if not digest_of(Path(path)))
        raise N6Error(
            "N6-TOOL-002", f"{COMPILER} names a file that n6build cannot read", where=missing, hint="install it again"
        )
    digest = hashlib.sha256(canonical([*digests, *places]).encode()).hexdigest()
    return Toolchain(COMPILER, Tool(COMPILER, digest), libraries=_library_versions(parts))


def _library_versions(parts: _Parts) -> dict[str, str]:
    """Return the versions of newlib, by its header, and of libgcc, by its place."""
    headers = [path for path in (Path(folder) / _NEWLIB_HEADER for folder in parts.include_folders) if is_file(path)]
    texts = [read_at_most(path, _MOST_OF_A_HEADER).decode("utf-8", "replace") for path in headers]
    newlib = [found[1] for text in texts if (found := _NEWLIB_VERSION.search(text))]
    gcc = [found[1] for path in parts.files if (found := _LIBGCC.search(path))]
    return {name: found[0] for name, found in (("newlib", newlib), ("libgcc", gcc)) if found}


@dataclass(frozen=True)
class _Parts:
    """Parts of the compiler by their absolute paths.

    Attributes:
        files: Programs, libraries and specs, the driver first.
        include_folders: Folders of its own headers in the order of the search, also those that do
            not exist.
        unmapped: Include folders whose place is in objects, as the compiler spells it: another
            place is another compiler.
    """

    files: list[str]
    include_folders: list[str]
    unmapped: list[str]


def _parts(driver: Path, environment: Environment, notes: Path | None) -> _Parts:
    # Links are resolved: /usr/bin/... may point to another release tomorrow.
    resolved = os.path.realpath(driver)
    key: list[object] = [resolved, digest_of(Path(resolved)), list(map(list, environment.commands))]
    known = _known_parts(notes, key)
    if known is not None:
        return known
    parts = _asked(resolved, environment)
    if notes is not None:
        write_atomically(notes / _NOTE, canonical({"key": key, **asdict(parts)}) + "\n")
    return parts


def _known_parts(notes: Path | None, key: list[object]) -> _Parts | None:
    try:
        known: Any = parse_json(content_of(notes / _NOTE)) if notes is not None else {}
        if known["key"] == key and all(os.path.isfile(path) for path in known["files"]):
            return _Parts(*([str(path) for path in known[each.name]] for each in fields(_Parts)))
    except (OSError, *WRONG_FIELDS):
        pass
    return None


def _asked(driver: str, environment: Environment) -> _Parts:
    found = [driver]
    for option, names in (("-print-prog-name=", _PROGRAMS), ("-print-file-name=", _FILES)):
        for name in names:
            answer = _output([driver, *CPU, f"{option}{name}"], environment).strip()
            # A name without a slash is unknown to the driver: it searches PATH for a program; a library is missing.
            path = (
                which(answer, environment.path) if option == "-print-prog-name=" and "/" not in answer else Path(answer)
            )
            if path is not None and "/" in str(path):
                found.append(os.path.realpath(path))
    specs = re.findall(
        r"Reading specs from (.+)", _output([driver, *CPU, NANO, "-###", "-x", "c", os.devnull], environment)
    )
    found += [os.path.realpath(path.strip()) for path in specs if "/" in path]
    told = _output([driver, *CPU, "-E", "-v", "-x", "c", os.devnull], environment)
    absent = re.findall(r'^ignoring nonexistent directory "(.+)"$', told, re.MULTILINE)
    listed = re.search(r"#include <\.\.\.> search starts here:\n((?: .*\n)*)", told)
    searched = [line.strip() for line in (listed[1].splitlines() if listed else ())]
    mapped = tuple(own_headers(driver, environment.path).values())
    return _Parts(
        [*dict.fromkeys(found)],
        [*dict.fromkeys(map(os.path.realpath, [*absent, *searched]))],
        [folder for folder in searched if not folder.startswith(mapped)],
    )


def _headers(folder: Path) -> Iterator[Path]:
    """Yield all files that C may include from the folder, without the headers of C++.

    The headers of C++ are ten times as many.
    """
    for path in files_in(folder):
        if path.is_dir():
            if path.name != "c++" and not path.is_symlink():
                yield from _headers(path)
        elif not path.is_symlink() or is_file(path):
            yield path


def _output(command: Sequence[str], environment: Environment) -> str:
    try:
        return run_captured(command, _TIMEOUT_S, dict(environment.commands))[1]
    except (OSError, subprocess.TimeoutExpired) as error:
        raise N6Error("N6-TOOL-002", f"cannot be run: {error}", where=command[0], hint="install it again") from error


def licence_documents(environment: Environment, names: Sequence[str]) -> list[Path]:
    """Return files with the notices of the libraries that the compiler links.

    Only files that are installed are returned.

    Args:
        environment: Variables with the compiler's place.
        names: Names of the packages that the libraries come with, on systems that have such
            packages.
    """
    driver = _compiler(environment.path)
    if driver is None:
        return []
    root = Path(os.path.realpath(driver)).parents[1]
    # The first ones are from Debian's packages, the last one from the archive of the Arm GNU Toolchain.
    places = [root / "share/doc" / name / "copyright" for name in names]
    return [path for path in (*places, root / "license.txt") if is_file(path)]


def compiler_version(environment: Environment) -> str:
    """Return the first line of the compiler's `--version`.

    Raises:
        N6Error: N6-TOOL-002 if the compiler cannot be run.
    """
    return (_output([COMPILER, "--version"], environment).splitlines() or ["unknown"])[0]
