"""Runs of other programs without a terminal, with all their output as one text."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def run_captured(
    command: Sequence[str | Path], timeout_s: float, environment: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """Run a program without a terminal and with nothing on stdin.

    The caller turns an exception into an error of its own.

    Args:
        command: The argument list.
        timeout_s: Longest duration in seconds.
        environment: Variables; None for the caller's.

    Returns:
        Exit status, and stdout and stderr in the order in which they were printed.

    Raises:
        OSError: The program cannot be run.
        subprocess.TimeoutExpired: The program takes longer.
    """
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


def run_in_session(
    command: Sequence[str | Path], folder: Path, timeout_s: float, environment: Mapping[str, str] | None = None
) -> tuple[int, str]:
    """Run a program that starts others, and end all of them with it.

    Args:
        command: The argument list.
        folder: Working directory.
        timeout_s: Longest duration in seconds.
        environment: Variables; None for the caller's.

    Returns:
        Exit status, and stdout and stderr in the order in which they were printed.

    Raises:
        OSError: The program cannot be run.
        subprocess.TimeoutExpired: The program takes longer.
    """
    child = subprocess.Popen(
        list(command),
        cwd=folder,
        env=None if environment is None else dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, _ = child.communicate(timeout=timeout_s)
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
    return child.returncode, output
