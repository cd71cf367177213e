"""What other build systems include."""

from __future__ import annotations

from pathlib import Path

MAKEFILE = Path(__file__).with_name("n6build.mk")
CMAKE_FOLDER = Path(__file__).with_name("cmake")
