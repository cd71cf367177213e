"""The version of n6build, which only pyproject.toml defines."""

from __future__ import annotations

import tomllib
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of

from n6build.base.files import is_file, read_text
from n6build.base.paths import ROOT

UNKNOWN = "(not installed)"


def version() -> str:
    """Return the version in pyproject.toml, or that of the installed package.

    A checkout may be ahead of the package that was installed from it.
    """
    described = ROOT / "pyproject.toml"
    if is_file(described):
        return str(tomllib.loads(read_text(described))["project"]["version"])
    try:
        return version_of("n6build")
    except PackageNotFoundError:
        return UNKNOWN
