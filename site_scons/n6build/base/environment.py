"""The caller's environment, read here and nowhere else: what a build may depend on is named, and becomes a parameter of its
steps."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

CORE_DIR = "STEDGEAI_CORE_DIR"
CMSIS = "N6BUILD_CMSIS"
KEY_PASSWORD = "N6BUILD_KEY_PASSWORD"
QEMU = "N6BUILD_QEMU"
PROJECT = "N6BUILD_PROJECT"
NO_COLOUR = "NO_COLOR"
REMOTE_TOKEN = "N6BUILD_REMOTE_TOKEN"
# Nothing else of the caller's environment reaches a compiler.
_OF_COMMANDS = ("PATH", "HOME", "TMPDIR", "LANG")
# stedgeai calls make, which would obey the others.
_OF_STEDGEAI = ("PATH", "HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "LANG", CORE_DIR)


@dataclass(frozen=True)
class Environment:
    """core: root of ST Edge AI Core, None if it is not named. commands: variables that compilers see.
    stedgeai: variables that ST's compiler sees."""

    path: str
    home: Path
    core: Path | None
    commands: tuple[tuple[str, str], ...]
    stedgeai: tuple[tuple[str, str], ...]

    def with_core(self, core: Path) -> Environment:
        """The same with another core, as if the variable named it."""
        stedgeai = tuple(sorted({**dict(self.stedgeai), CORE_DIR: str(core)}.items()))
        return replace(self, core=core, stedgeai=stedgeai)


@dataclass(frozen=True)
class RemoteVariables:
    """How servers are approached (`remote.address.Access`), as given, empty for what is not: files but for `token`, `timeout` and
    `patience`."""

    token: str
    token_file: str
    authority: str
    certificate: str
    key: str
    timeout: str
    patience: str


def read_environment(values: Mapping[str, str] | None = None) -> Environment:
    """values: the variables; None for those of this process."""
    given = os.environ if values is None else values
    core = given.get(CORE_DIR)
    return Environment(
        path=given.get("PATH", os.defpath),
        home=Path(given.get("HOME") or Path.home()),
        core=Path(core) if core else None,
        commands=_named(given, _OF_COMMANDS),
        stedgeai=_named(given, _OF_STEDGEAI),
    )


def option_values() -> Mapping[str, str]:
    """The variables from which options take their values."""
    return os.environ


def makeflags() -> str:
    """Return the options of the make or Ninja that started this process, among them its jobserver; empty without one."""
    return os.environ.get("MAKEFLAGS", "")


def project_folder() -> Path:
    """Where boards, models and settings of the project are, and where relative paths of options start: as named by a build system
    that works elsewhere (CMake), else the working directory. Raises OSError if that is gone."""
    return Path(os.environ.get(PROJECT) or Path.cwd())


def cmsis_folders() -> tuple[Path, ...]:
    """What the variable of option cmsis names, for command lines without options of a build."""
    return tuple(Path(folder) for folder in os.environ.get(CMSIS, "").split(os.pathsep) if folder)


def key_password() -> str | None:
    """Password of the keys that images are signed with, None without one. Not a parameter, which would be written to files."""
    return os.environ.get(KEY_PASSWORD)


def remote_variables() -> RemoteVariables:
    """Not parameters: they hold secrets, and change nothing that a step makes."""
    names = (
        REMOTE_TOKEN,
        *(f"N6BUILD_REMOTE_{name}" for name in ("TOKEN_FILE", "CA", "CERT", "KEY", "TIMEOUT", "PATIENCE")),
    )
    return RemoteVariables(*(os.environ.get(name, "") for name in names))


def silence_grpc() -> None:
    """gRPC would write what it thinks of a broken connection to the console; who calls it says so once."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")


def qemu_wanted() -> str | None:
    """Release of QEMU that the virtual board is to be built on, None for the distribution's. Not a parameter: runs have the
    emulator's content for that."""
    return os.environ.get(QEMU) or None


def ensure_home() -> None:
    """Set HOME where neither the variable nor an entry of the user names a folder, as in the sandbox of a worker."""
    try:
        Path.home()
    except RuntimeError:
        os.environ["HOME"] = "/nonexistent"


def is_asked_to_complete() -> bool:
    """Whether a shell has called this program for what may follow on its command line; the request is in further variables, for
    argcomplete."""
    return "_ARGCOMPLETE" in os.environ


def without_colour() -> None:
    """Sets NO_COLOR for this process and the programs it starts."""
    os.environ[NO_COLOUR] = "1"


def wants_colour() -> bool:
    """Whether NO_COLOR is not set (no-color.org)."""
    return NO_COLOUR not in os.environ


def for_installing(**more: str) -> dict[str, str]:
    """All variables, with `more`: for the distribution's own programs, which set up the virtual board."""
    return {**os.environ, **more}


def in_copy(folder: Path, library: Path, byte_code: Path) -> dict[str, str]:
    """Return the variables for a build in a copy of the project, which no cache and no other machine takes part in.

    Args:
        folder: has the home of its user, programs that come first in PATH, and temporary files.
        library: where Python finds the library.
        byte_code: where Python keeps byte code.
    """
    without = ("N6BUILD_CACHE", "N6BUILD_REMOTE", PROJECT, "XDG_", "PYTHON")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(without)}
    return {
        **kept,
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "tmp"),
        "PATH": os.pathsep.join([str(folder / "bin"), kept.get("PATH", os.defpath)]),
        "PYTHONPATH": str(library),
        "PYTHONPYCACHEPREFIX": str(byte_code),
        NO_COLOUR: "1",
    }


def _named(given: Mapping[str, str], names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((name, given[name]) for name in names if name in given)
