"""Which version of n6build this is: said in pyproject.toml, and nowhere else."""

from __future__ import annotations

import tomllib
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of

from n6build.base.files import is_file, read_text
from n6build.base.paths import ROOT


def version() -> str:
    """As pyproject.toml has it, which a checkout may be ahead of what was installed from it."""
    described = ROOT / "pyproject.toml"
    if is_file(described):
        return str(tomllib.loads(read_text(described))["project"]["version"])
    try:
        return version_of("n6build")
    except PackageNotFoundError:
        return "(not installed)"
