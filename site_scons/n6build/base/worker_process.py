"""Processes of n6build's own modules, for libraries that may crash."""

from __future__ import annotations

import signal
import subprocess
import sys

from n6build.base.environment import read_environment
from n6build.base.paths import LIBRARY

_MAX_WHY = 300


def run_worker(module: str, request: bytes, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """Run a module on a request, which it reads from stdin, to its end.

    Args:
        module: Name of the module, such as `n6build.judge.compare.worker`.
        request: All of its input.
        variables: Further variables of its environment.
    """
    environment = {**dict(read_environment().commands), "PYTHONPATH": str(LIBRARY.parent), **variables}
    command = [sys.executable, "-m", module]
    return subprocess.run(command, input=request, capture_output=True, env=environment, check=False)


def ending_of(result: subprocess.CompletedProcess[bytes]) -> str:
    """Return the end of a process without an answer.

    It is a signal, its last line, or its status.
    """
    if result.returncode < 0:
        return signal.Signals(-result.returncode).name
    lines = result.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:_MAX_WHY] if lines else f"exit status {result.returncode}"
