"""What is left in a build folder that has been cleaned, and why."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from n6build.plan.ledger import FOLDER
from n6build.plan.progress import LAST_ERROR

# No step makes them.
_BESIDE_STEPS = (LAST_ERROR, "plan.json", "plan.svg")
_WHY = {"virtual_board": "what the virtual boards hold", FOLDER: "records, and the lock that builds wait for"}


def tidied(build: Path) -> list[tuple[str, str]]:
    """Removes what no step makes and folders that have become empty. Returns (path, why) of all that stays in the folder. build:
    folder of all build products."""
    for name in _BESIDE_STEPS:
        (build / name).unlink(missing_ok=True)
    for folder, _, _ in os.walk(build, topdown=False):
        with suppress(OSError):  # Those that are not empty.
            os.rmdir(folder)
    if not build.is_dir():
        return []
    left = sorted(path.name for path in build.iterdir())
    return [(f"{build.name}/{name}", _WHY.get(name, "of other builds")) for name in left]
