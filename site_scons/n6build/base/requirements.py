"""Checks that n6build can work with this Python, this SCons and these packages.

This module and those of n6build that it uses need nothing but the standard library, and older
Pythons can read it, too: from a checkout or a submodule n6build runs in any Python, where pip would
have refused or installed packages.
"""

from __future__ import annotations

import re
import sys

from n6build.base.errors import N6Error
from n6build.base.paths import ROOT

# The same versions are in pyproject.toml.
OLDEST_PYTHON = (3, 11)
OLDEST_SCONS = (4, 5, 1)
# Module -> package, of the extra `remote`.
_REMOTE = {"grpc": "grpcio", "zstandard": "zstandard"}
# A checkout has exactly these packages; those of an installed n6build are installed beside it.
_LOCK = ROOT / "requirements" / "runtime.lock"


def check_python() -> None:
    """Check that Python is new enough.

    Raises:
        N6Error: N6-SETUP-002 if Python is too old.
    """
    if sys.version_info[:2] < OLDEST_PYTHON:
        have, wanted = sys.version.split()[0], ".".join(map(str, OLDEST_PYTHON))
        raise N6Error("N6-SETUP-002", f"Python {have} is too old", hint=f"install Python {wanted} or newer")


def missing_package(error: ModuleNotFoundError) -> N6Error:
    """Return N6-SETUP-003, for a third-party package that could not be imported.

    Raises:
        ModuleNotFoundError: `error` itself, if it names a module of n6build.
    """
    name = (error.name or "n6build").partition(".")[0]
    if name.startswith("n6"):
        raise error
    if name in _REMOTE:
        what = f"Python package '{name}' is missing in {sys.prefix}: remote caches and workers need it"
        return N6Error("N6-SETUP-003", what, hint=f"run {sys.executable} -m pip install {' '.join(_REMOTE.values())}")
    install = f"-r {_LOCK}" if _LOCK.is_file() else "--force-reinstall n6build"
    what = f"Python package '{name}' is missing in {sys.prefix}"
    return N6Error("N6-SETUP-003", what, hint=f"run {sys.executable} -m pip install {install}")


def check_scons(version: str) -> None:
    """Check that SCons is new enough.

    Args:
        version: Version of SCons.

    Raises:
        N6Error: N6-SETUP-004 if SCons is too old.
    """
    found = tuple(int(part) for part in re.findall(r"\d+", version)[:3])
    if found < OLDEST_SCONS:
        wanted = ".".join(map(str, OLDEST_SCONS))
        raise N6Error("N6-SETUP-004", f"SCons {version} is too old", hint=f"install SCons {wanted} or newer")
