"""Waiting in tests: always for an event, never for a fixed time."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable

# This limit of the host's time stops hanging tests; even a busy machine needs only a small part of it.
NET_S = 1800


def wait_until(is_so: Callable[[], bool], process: subprocess.Popen[str] | None = None) -> None:
    """Wait for a condition.

    Args:
        process: A process that must not end meanwhile.
    """
    deadline = time.monotonic() + NET_S
    while not is_so():
        assert process is None or process.poll() is None, "it ended before"
        assert time.monotonic() < deadline
        time.sleep(0.02)
