"""Runs other programs without a terminal: nothing on stdin, and all that they print as one text."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def run_captured(
    command: Sequence[str | Path], timeout_s: float, environment: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """Exit status, and stdout and stderr in the order in which they were printed. environment: None for the caller's. Raises
    OSError and subprocess.TimeoutExpired, which the caller turns into an error of its own."""
    result = subprocess.run(
        list(command),
        stdin=subprocess.DEVNULL,
        env=None if environment is None else dict(environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=timeout_s,
        check=False,
    )
    return result.returncode, result.stdout
