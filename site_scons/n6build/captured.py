"""Other people's programs, run without a terminal: nothing to answer, everything they say in one text."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path


def run_captured(command: Sequence[str | Path], timeout_s: float) -> tuple[int, str]:
    """Exit status, and what was printed. Raises OSError and subprocess.TimeoutExpired, which the caller has words for."""
    result = subprocess.run(
        list(command),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=timeout_s,
        check=False,
    )
    return result.returncode, result.stdout
