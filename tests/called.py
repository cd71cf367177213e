"""Programs that tests call with an environment of their own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from patience import NET_S


def call(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command without input, with PATH and these variables only."""
    return subprocess.run(
        command,
        cwd=cwd,
        env={"PATH": os.environ["PATH"], **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=NET_S,
        check=False,
    )


def shared_caches() -> dict[str, str]:
    """Return the variables that name the caller's cache and its emulator."""
    cache = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
    return {"XDG_CACHE_HOME": cache, "N6BUILD_QEMU": os.environ.get("N6BUILD_QEMU", "")}
