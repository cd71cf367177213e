"""Where the library is, and what it reads beside its code: in a checkout, even when another project embeds it, or as installed
from the wheel."""

from __future__ import annotations

import os
from pathlib import Path

from n6build.base.environment import project_folder

LIBRARY = Path(__file__).resolve().parents[1]
_INSTALLED = LIBRARY / "_data"
ROOT = _INSTALLED if _INSTALLED.is_dir() else LIBRARY.parents[1]
BOARDS = ROOT / "boards"
MODELS = ROOT / "models"
FIRMWARE = ROOT / "firmware"
TEMPLATES = FIRMWARE / "templates"


def own_folder(folder: Path) -> Path:
    """The folder of this name in the project, whose content comes before that of `folder`."""
    return project_folder() / folder.name


def project_path(path: str | Path) -> str:
    """The path as steps name it: relative to the working directory (the project's folder) if it is inside, else absolute."""
    absolute = os.path.abspath(path)  # noqa: PTH100 - links stay as they are named
    top = os.getcwd()  # noqa: PTH109
    return os.path.relpath(absolute, top) if absolute.startswith(top + os.sep) else absolute
