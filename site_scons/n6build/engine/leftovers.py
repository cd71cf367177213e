"""Files that stay in a build folder after it was cleaned, with the reasons."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from n6build.engine.ledger import FOLDER
from n6build.engine.progress import LAST_ERROR

# Files that no step makes.
_BESIDE_STEPS = (LAST_ERROR, "plan.json", "plan.svg")
_WHY = {"virtual_board": "memories of the virtual boards", FOLDER: "records and the lock of builds"}


def tidied(build: Path) -> list[tuple[str, str]]:
    """Remove files that no step makes, and folders that have become empty.

    Args:
        build: Folder of all build products.

    Returns:
        Path and reason of all that stays in the folder.
    """
    for name in _BESIDE_STEPS:
        (build / name).unlink(missing_ok=True)
    for folder, _, _ in os.walk(build, topdown=False):
        with suppress(OSError):  # Folders that are not empty stay.
            os.rmdir(folder)
    if not build.is_dir():
        return []
    left = sorted(path.name for path in build.iterdir())
    return [(f"{build.name}/{name}", _WHY.get(name, "of other builds")) for name in left]
