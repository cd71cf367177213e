"""Folders and files that other build systems include."""

from __future__ import annotations

import os
import re
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.paths import FIRMWARE, SCONS_TOOLS

MAKEFILE = Path(__file__).with_name("n6build.mk")
CMAKE_FOLDER = Path(__file__).with_name("cmake")
# Folder of n6_network.h.
INCLUDE_FOLDER = FIRMWARE / "appli"
# Places by the argument of n6build that prints them.
PLACES = {
    "--makefile": MAKEFILE,
    "--cmake-dir": CMAKE_FOLDER,
    "--include-dir": INCLUDE_FOLDER,
    "--scons-dir": SCONS_TOOLS,
}
# Hosts name files of the folder in their own rules, which may quote in any way.
_PLAIN = re.compile(r"[\w./+@-]+", re.ASCII)


def check_folder(folder: str) -> None:
    """Refuse a build folder that rules cannot name, or that contains the project.

    Raises:
        N6Error: N6-EMBED-002 for such a folder.
    """
    if not _PLAIN.fullmatch(folder) or folder.startswith("-"):
        what = f"the name of the build folder {folder!a} has other characters than letters, digits and ./+@_-"
        raise N6Error("N6-EMBED-002", what, hint="N6_BUILD=build/n6build")
    if os.path.commonpath([os.path.abspath(folder), os.getcwd()]) == os.path.abspath(folder):
        what = f"the build folder {folder!a} contains the project"
        raise N6Error(
            "N6-EMBED-002",
            what,
            hint="set N6_BUILD to a folder that only n6build uses, for example N6_BUILD=build/n6build",
        )
