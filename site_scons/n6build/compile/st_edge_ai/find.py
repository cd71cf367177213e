"""The installation of ST Edge AI Core, and its release."""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from n6build.base.bounded import WRONG_FIELDS, parse_json
from n6build.base.environment import Environment
from n6build.base.errors import N6Error
from n6build.base.files import digest_of, files_in, is_file, to_json, write_atomically
from n6build.base.regular_file import content_of
from n6build.compile.toolchain import which

# The paths begin at the root of ST Edge AI Core, or of an X-CUBE-AI pack, which has the same tree.
_EXECUTABLES = tuple(
    f"Utilities/{system}/stedgeai{suffix}"
    for system, suffix in (("linux", ""), ("mac", ""), ("macarm", ""), ("windows", ".exe"))
)
_PACKS = "STM32Cube/Repository/Packs/STMicroelectronics/X-CUBE-AI"
_TIMEOUT_S = 120
_NOTE = "stedgeai.json"


@dataclass(frozen=True)
class Installation:
    """An installation of ST's compiler; `root` is None if found through PATH alone."""

    root: Path | None
    executable: Path


@dataclass(frozen=True, order=True)
class CoreVersion:
    """A release of ST Edge AI Core; `text` is printed, with build number and commit."""

    major: int
    minor: int
    micro: int
    text: str

    @property
    def has_c_info_in_output(self) -> bool:
        """Return whether c_info is in the output; release 2.0 leaves it in the workspace."""
        return (self.major, self.minor) >= (2, 1)

    @property
    def needs_mvei(self) -> bool:
        """Return whether the compiler needs --mvei for the Cortex-M55.

        Newer releases describe the core in another way.
        """
        return self.major < 3

    @property
    def makes_relocatable(self) -> bool:
        """Return whether `--relocatable` makes a relocatable model for the NPU."""
        return self.major >= 4

    @property
    def writes_stai(self) -> bool:
        """Return whether the output has stai_<name>.h and stai_<name>.c."""
        return self.major >= 3


def find_tool(environment: Environment) -> Installation | None:
    """Find ST's compiler, or return None.

    The places are the core, then the newest X-CUBE-AI pack, then PATH. The core of a project has
    the runtime alone.
    """
    if environment.core and (found := _in_root(environment.core)):
        return found
    for pack in sorted(files_in(environment.home / _PACKS), key=lambda path: _numbers(path.name), reverse=True):
        if found := _in_root(pack):
            return found
    executable = which("stedgeai", environment.path)
    return Installation(_root_above(executable), executable) if executable else None


def _in_root(root: Path) -> Installation | None:
    for name in _EXECUTABLES:
        if is_file(root / name):
            return Installation(root, root / name)
    return None


def _root_above(executable: Path) -> Path | None:
    parents = executable.resolve().parents
    return parents[2] if len(parents) > 2 and parents[1].name == "Utilities" else None


def _numbers(name: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d{1,6}", name)]


def digest_of_tool(installation: Installation) -> str:
    """Return the SHA-256 of the executable and of the files beside it.

    In an installation these are atonn and settings; without one, only the executable counts.
    """
    beside = files_in(installation.executable.parent) if installation.root else []
    files = [path for path in beside if is_file(path)] or [installation.executable]
    return hashlib.sha256("".join(f"{path.name} {digest_of(path)}\n" for path in files).encode()).hexdigest()


def parse_version(output: str) -> CoreVersion:
    """Parse the output of `stedgeai --version`.

    An example is 'ST Edge AI Core v4.0.1-20581 7ed50de05'.

    Raises:
        N6Error: N6-STAI-002 if it has no version; N6-STAI-003 for a release before 2.0 or from 5.0
            on.
    """
    match = re.search(r"ST Edge AI Core v(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(\S{0,40}(?: [0-9a-f]{6,12}\b)?)", output)
    if not match:
        first = output.strip().splitlines()[:1]
        raise N6Error("N6-STAI-002", f"stedgeai does not report its version: {first[0][:80] if first else 'no output'}")
    version = CoreVersion(int(match[1]), int(match[2]), int(match[3] or 0), match[0].removeprefix("ST Edge AI Core v"))
    if not 2 <= version.major <= 4:
        raise N6Error(
            "N6-STAI-003",
            f"ST Edge AI Core {version.text} is unknown to n6build",
            hint="use a release from 2.0 to 4.x",
        )
    return version


def installed_version(installation: Installation, environment: Mapping[str, str], notes: Path | None) -> CoreVersion:
    """Return the release of ST's compiler, which runs once for each executable.

    The answer takes seconds, too long for a build with nothing to do.

    Args:
        installation: The tool.
        environment: Variables for the tool.
        notes: Folder that keeps the answer; None keeps nothing.

    Raises:
        N6Error: N6-STAI-002, N6-STAI-003.
    """
    key = [str(installation.executable), digest_of_tool(installation)]
    try:
        known: Any = parse_json(content_of(notes / _NOTE)) if notes is not None else {}
        if known["executable"] == key:
            return parse_version(known["version"])
    except (OSError, N6Error, *WRONG_FIELDS):
        pass
    try:
        result = subprocess.run(
            [str(installation.executable), "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(environment),
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise N6Error("N6-STAI-002", f"stedgeai --version: {error}", where=str(installation.executable)) from error
    output = result.stdout.decode("utf-8", "replace")
    version = parse_version(output)
    if notes is not None:
        write_atomically(notes / _NOTE, to_json({"executable": key, "version": f"ST Edge AI Core v{version.text}"}))
    return version
