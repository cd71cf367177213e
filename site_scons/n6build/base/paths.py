"""Places of the library, and of the files that it reads beside its code.

They are in a checkout, even if another project embeds it, or installed from the wheel.
"""

from __future__ import annotations

import os
from pathlib import Path

from n6build.base.environment import project_folder
from n6build.base.errors import N6Error

LIBRARY = Path(__file__).resolve().parents[1]
_INSTALLED = LIBRARY / "_data"
ROOT = _INSTALLED if _INSTALLED.is_dir() else LIBRARY.parents[1]
BOARDS = ROOT / "boards"
MODELS = ROOT / "models"
FIRMWARE = ROOT / "firmware"
TEMPLATES = FIRMWARE / "templates"
EXAMPLES = ROOT / "examples"
MACHINE_FILES = ROOT / "tools" / "virtual_board"
SCONS_TOOLS = LIBRARY / "site_tools" if _INSTALLED.is_dir() else LIBRARY.parent / "site_tools"


def own_folder(folder: Path) -> Path:
    """Return the folder of this name in the project.

    Its content takes precedence over that of `folder`.
    """
    return project_folder() / folder.name


def check_text(path: str) -> str:
    """Return the path itself, if it is UTF-8.

    No plan, no record and no C file could contain another path.

    Raises:
        N6Error: N6-FILE-004 if the path is not UTF-8.
    """
    try:
        path.encode()
    except UnicodeEncodeError:
        raise N6Error(
            "N6-FILE-004", "the name of a file or folder is not UTF-8", where=path, hint="rename it"
        ) from None
    return path


def project_path(path: str | Path) -> str:
    """Return the path as steps name it.

    It is relative to the working directory (the project's folder) if it is inside, else absolute.
    """
    absolute = os.path.abspath(path)  # noqa: PTH100 - links stay as they are named
    top = os.getcwd()  # noqa: PTH109
    return os.path.relpath(absolute, top) if absolute.startswith(top + os.sep) else absolute
