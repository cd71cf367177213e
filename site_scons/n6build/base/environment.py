"""The caller's environment, which is read only here.

Every variable that a build may depend on is named, and becomes a parameter of its steps.
"""

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
# stedgeai calls make, which would obey other variables.
_OF_STEDGEAI = ("PATH", "HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "LANG", CORE_DIR)


@dataclass(frozen=True)
class Environment:
    """Variables that a build depends on.

    Attributes:
        path: Variable PATH.
        home: Home folder of the user.
        core: Root of ST Edge AI Core, None if it is not named.
        commands: Variables that compilers see.
        stedgeai: Variables that ST's compiler sees.
    """

    path: str
    home: Path
    core: Path | None
    commands: tuple[tuple[str, str], ...]
    stedgeai: tuple[tuple[str, str], ...]

    def with_core(self, core: Path) -> Environment:
        """Return the same environment with another core, as if the variable named it."""
        stedgeai = tuple(sorted({**dict(self.stedgeai), CORE_DIR: str(core)}.items()))
        return replace(self, core=core, stedgeai=stedgeai)


@dataclass(frozen=True)
class RemoteVariables:
    """Variables about access to servers (`remote.address.Access`), as given.

    A variable that is not set is empty. All are names of files, except for `token`, `timeout` and
    `patience`.
    """

    token: str
    token_file: str
    authority: str
    certificate: str
    key: str
    timeout: str
    patience: str


def read_environment(values: Mapping[str, str] | None = None) -> Environment:
    """Read the variables that a build depends on.

    Args:
        values: The variables; None for those of this process.
    """
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
    """Return the variables from which options take their values."""
    return os.environ


def makeflags() -> str:
    """Return the options of the make or Ninja that started this process.

    Its jobserver is among them. The text is empty without such a program.
    """
    return os.environ.get("MAKEFLAGS", "")


def project_folder() -> Path:
    """Return the folder with the boards, models and settings of the project.

    Relative paths of options start there, too. A build system that works elsewhere (CMake) names it
    in a variable; otherwise it is the working directory.

    Raises:
        OSError: The working directory is gone.
    """
    return Path(os.environ.get(PROJECT) or Path.cwd())


def cmsis_folders() -> tuple[Path, ...]:
    """Return the folders in the variable of option cmsis.

    It is for command lines without options of a build.
    """
    return tuple(Path(folder) for folder in os.environ.get(CMSIS, "").split(os.pathsep) if folder)


def key_password() -> str | None:
    """Return the password of the keys that sign images, None without one.

    It is not a parameter, since parameters are written to files.
    """
    return os.environ.get(KEY_PASSWORD)


def remote_variables() -> RemoteVariables:
    """Return the variables about access to servers.

    They are not parameters: they hold secrets, and change no output of a step.
    """
    names = (
        REMOTE_TOKEN,
        *(f"N6BUILD_REMOTE_{name}" for name in ("TOKEN_FILE", "CA", "CERT", "KEY", "TIMEOUT", "PATIENCE")),
    )
    return RemoteVariables(*(os.environ.get(name, "") for name in names))


def silence_grpc() -> None:
    """Keep gRPC from printing its messages about broken connections.

    The caller reports a broken connection once.
    """
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")


def qemu_wanted() -> str | None:
    """Return the release of QEMU for the virtual board, None for the distribution's.

    It is not a parameter: runs depend on the content of the emulator instead.
    """
    return os.environ.get(QEMU) or None


def ensure_home() -> None:
    """Set HOME if neither the variable nor an entry of the user names a folder.

    This is so in the sandbox of a worker, for example.
    """
    try:
        Path.home()
    except RuntimeError:
        os.environ["HOME"] = "/nonexistent"


def is_asked_to_complete() -> bool:
    """Return whether a shell has called this program to complete a command line.

    The request is in further variables, for argcomplete.
    """
    return "_ARGCOMPLETE" in os.environ


def without_colour() -> None:
    """Set NO_COLOR for this process and the programs it starts."""
    os.environ[NO_COLOUR] = "1"


def wants_colour() -> bool:
    """Return whether NO_COLOR is not set (no-color.org)."""
    return NO_COLOUR not in os.environ


def for_installing(**more: str) -> dict[str, str]:
    """Return all variables and `more`, for programs that set up the virtual board.

    These programs come from the distribution.
    """
    return {**os.environ, **more}


def in_copy(folder: Path, library: Path, byte_code: Path) -> dict[str, str]:
    """Return the variables for a build in a copy of the project.

    No cache and no other machine takes part in this build.

    Args:
        folder: Folder with the home of its user, programs that come first in PATH, and temporary
            files.
        library: Folder where Python finds the library.
        byte_code: Folder where Python keeps byte code.
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
