"""The caller's environment, read here and nowhere else: what a build may depend on is named, and becomes a parameter of its
steps."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

CORE_DIR = "STEDGEAI_CORE_DIR"
CMSIS = "N6BUILD_CMSIS"
KEY_PASSWORD = "N6BUILD_KEY_PASSWORD"
NO_COLOUR = "NO_COLOR"
# Nothing else of the caller's environment reaches a compiler.
_OF_COMMANDS = ("PATH", "HOME", "TMPDIR", "LANG")
# stedgeai calls make, which would obey the others.
_OF_STEDGEAI = ("PATH", "HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "LANG", CORE_DIR)


@dataclass(frozen=True)
class Environment:
    """core: root of ST Edge AI Core, where it is named. cmsis: folders of the device headers, which are not part of it. commands:
    what compilers get to see. stedgeai: what ST's compiler gets to see."""

    path: str
    home: Path
    core: Path | None
    cmsis: tuple[Path, ...]
    commands: tuple[tuple[str, str], ...]
    stedgeai: tuple[tuple[str, str], ...]


def read_environment(values: Mapping[str, str] | None = None) -> Environment:
    given = os.environ if values is None else values
    core = given.get(CORE_DIR)
    return Environment(
        path=given.get("PATH", os.defpath),
        home=Path(given.get("HOME") or Path.home()),
        core=Path(core) if core else None,
        cmsis=tuple(Path(folder) for folder in given.get(CMSIS, "").split(os.pathsep) if folder),
        commands=_named(given, _OF_COMMANDS),
        stedgeai=_named(given, _OF_STEDGEAI),
    )


def option_values() -> Mapping[str, str]:
    """For the options that have a variable of their own."""
    return os.environ


def key_password() -> str | None:
    """Of the keys that images are signed with. It is not a parameter: it would stand in files."""
    return os.environ.get(KEY_PASSWORD)


def without_colour() -> None:
    """From here on, and in what is started from here."""
    os.environ[NO_COLOUR] = "1"


def wants_colour() -> bool:
    return NO_COLOUR not in os.environ


def for_installing(**more: str) -> dict[str, str]:
    """All of it: for the distribution's own programs, which set up the virtual board."""
    return {**os.environ, **more}


def _named(given: Mapping[str, str], names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((name, given[name]) for name in names if name in given)
