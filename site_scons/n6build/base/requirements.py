"""Whether n6build can work here at all. Imports nothing but the standard library, and is read by older Pythons, too: from a
checkout or a submodule n6build runs in whatever there is, where pip would have refused or installed."""

from __future__ import annotations

import re
import sys

from n6build.base.errors import N6Error
from n6build.base.paths import ROOT

# As in pyproject.toml.
OLDEST_PYTHON = (3, 11)
OLDEST_SCONS = (4, 5, 1)
# Module -> package, of the extra `remote`.
_REMOTE = {"grpc": "grpcio", "zstandard": "zstandard"}
# What a checkout has exactly; an installed n6build has what it needs beside it.
_LOCK = ROOT / "requirements" / "runtime.lock"


def check_python() -> None:
    """Raises N6-SETUP-002 where Python is too old."""
    if sys.version_info[:2] < OLDEST_PYTHON:
        have, wanted = sys.version.split()[0], ".".join(map(str, OLDEST_PYTHON))
        raise N6Error("N6-SETUP-002", f"Python {have} is too old", hint=f"n6build needs Python {wanted} or newer")


def missing_package(error: ModuleNotFoundError) -> N6Error:
    """N6-SETUP-003, for a package of others that could not be imported. Raises `error` if it is one of n6build."""
    name = (error.name or "n6build").partition(".")[0]
    if name.startswith("n6"):
        raise error
    if name in _REMOTE:
        what = f"Python package '{name}', which servers need, is missing in {sys.prefix}"
        return N6Error("N6-SETUP-003", what, hint=f"{sys.executable} -m pip install {' '.join(_REMOTE.values())}")
    install = f"-r {_LOCK}" if _LOCK.is_file() else "--force-reinstall n6build"
    what = f"Python package '{name}' is missing in {sys.prefix}"
    return N6Error("N6-SETUP-003", what, hint=f"{sys.executable} -m pip install {install}")


def check_scons(version: str) -> None:
    """version: of SCons. Raises N6-SETUP-004 where it is too old."""
    found = tuple(int(part) for part in re.findall(r"\d+", version)[:3])
    if found < OLDEST_SCONS:
        wanted = ".".join(map(str, OLDEST_SCONS))
        raise N6Error("N6-SETUP-004", f"SCons {version} is too old", hint=f"n6build needs SCons {wanted} or newer")
