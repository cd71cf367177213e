"""The build backend of the wheel (PEP 517): library, data and SCons tools.

In the wheel the folders of `DATA` are n6build/_data (`n6build.base.paths` finds them there), and
site_tools is a package of the library. They are put in place in a temporary folder, so that neither
the checkout nor its build folder gets copies.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from setuptools import build_meta
from setuptools.build_meta import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

ROOT = Path(__file__).resolve().parents[2]
DATA = ("boards", "examples", "firmware", "models", "tools")
_DESCRIBED_BY = ("pyproject.toml", "README.md", "LICENSE")
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", "*.egg-info", ".*", "build")
# This is 1 January 1980, the first time that a zip file can have: equal sources give an equal wheel.
_TIME = "315532800"


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """Build the wheel, and return its name in `wheel_directory`."""
    target, here, time = os.path.abspath(wheel_directory), Path.cwd(), os.environ.get("SOURCE_DATE_EPOCH")  # noqa: PTH100
    with tempfile.TemporaryDirectory() as folder:
        _lay_out(Path(folder))
        os.chdir(folder)
        os.environ.setdefault("SOURCE_DATE_EPOCH", _TIME)
        try:
            return str(build_meta.build_wheel(target, config_settings, metadata_directory))
        finally:
            os.chdir(here)
            if time is None:
                del os.environ["SOURCE_DATE_EPOCH"]


def _lay_out(folder: Path) -> None:
    for name in _DESCRIBED_BY:
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "site_scons", folder / "site_scons", ignore=_LEFT_OUT)
    library = folder / "site_scons" / "n6build"
    (folder / "site_scons" / "site_tools").rename(library / "site_tools")
    (library / "site_tools" / "__init__.py").write_text(
        '"""SCons tools: toolpath=[PyPackageDir("n6build.site_tools")]."""\n'
    )
    for name in DATA:
        shutil.copytree(ROOT / name, library / "_data" / name, ignore=_LEFT_OUT)
    # The firmware's licence belongs in the notices of every image.
    shutil.copy(ROOT / "LICENSE", library / "_data")
    # A wheel also has permissions, which should not depend on the user who builds it.
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
