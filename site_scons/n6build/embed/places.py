"""What other build systems include."""

from __future__ import annotations

from pathlib import Path

from n6build.base.paths import FIRMWARE

MAKEFILE = Path(__file__).with_name("n6build.mk")
CMAKE_FOLDER = Path(__file__).with_name("cmake")
# Of n6_network.h.
INCLUDE_FOLDER = FIRMWARE / "appli"
# By the argument of n6build that asks for it.
PLACES = {"--makefile": MAKEFILE, "--cmake-dir": CMAKE_FOLDER, "--include-dir": INCLUDE_FOLDER}
