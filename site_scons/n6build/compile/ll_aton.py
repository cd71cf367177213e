"""The version of ll_aton: four numbers that network.c checks.

The format of a relocatable model follows from the version, too.
"""

from __future__ import annotations

import re
from pathlib import Path

from n6build.base.errors import N6Error
from n6build.base.files import read_text
from n6build.base.paths import FIRMWARE

Version = tuple[int, int, int, int]
# The numbers in the version check of network.c -> the release of ST Edge AI Core that writes and ships them.
CORE_RELEASES: dict[Version, str] = {
    (1, 0, 0, 16): "2.0",
    (1, 1, 0, 31): "2.1",
    (1, 1, 1, 14): "2.2",
    (1, 1, 3, 8): "3.0",
    (1, 1, 3, 262): "4.0.0",
    (1, 1, 3, 275): "4.0.1",
}
# The header names the version of the runtime in firmware/runtime.
OWN_HEADER = FIRMWARE / "runtime" / "ll_aton_version.h"


def own_version() -> Version:
    """Return the version of the runtime in firmware/runtime.

    Raises:
        N6Error: N6-LLATON-001.
    """
    return read_ll_aton_version(OWN_HEADER)


def read_ll_aton_version(header: Path) -> Version:
    """Read the version of ll_aton from its header.

    Raises:
        N6Error: N6-LLATON-001 if the header does not name the four numbers.
    """
    try:
        text = read_text(header)
    except N6Error as error:
        raise N6Error("N6-LLATON-001", error.what, where=str(header)) from error
    found = dict(
        re.findall(
            r"^[ \t]*#[ \t]*define[ \t]+LL_ATON_VERSION_(MAJOR|MINOR|MICRO|DEV)[ \t]+\(?(\d{1,9})\)?", text, re.M
        )
    )
    if len(found) != 4:
        raise N6Error("N6-LLATON-001", "does not define the four numbers of its version", where=str(header))
    return (int(found["MAJOR"]), int(found["MINOR"]), int(found["MICRO"]), int(found["DEV"]))


def version_text(version: Version) -> str:
    """Return a version as text, such as '1.1.3-262'."""
    return f"{version[0]}.{version[1]}.{version[2]}-{version[3]}"


def release_name(version: Version) -> str:
    """Return the release that ships this version, such as 'ST Edge AI Core 2.1'."""
    release = CORE_RELEASES.get(version)
    return f"ST Edge AI Core {release}" if release else "an unknown release of ST Edge AI Core"
