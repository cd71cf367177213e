"""How tests wait: for something to happen, never for a time in which it should have happened."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable

# Of the host's time, against what hangs; a busy machine needs a small part of it.
NET_S = 1800


def wait_until(is_so: Callable[[], bool], process: subprocess.Popen[str] | None = None) -> None:
    """process: that has to live meanwhile."""
    deadline = time.monotonic() + NET_S
    while not is_so():
        assert process is None or process.poll() is None, "it ended before"
        assert time.monotonic() < deadline
        time.sleep(0.02)
