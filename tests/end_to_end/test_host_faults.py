"""Killed or parallel builds of a host project end like undisturbed ones."""

from __future__ import annotations

import os
import shutil
import signal
import time
from pathlib import Path

import pytest

from end_to_end.hosts import NEWEST, Host, digests_of, steps_in


def project_of(system: str, folder: Path) -> tuple[Host, tuple[str | Path, ...], Path]:
    """Return a host project, its build command, and the folder of n6build's files."""
    host = Host(folder, system)
    if system == "make":
        return host, ("make", "-j2", "all", "n6-build"), host.root / "build/n6build"
    host.call(
        NEWEST,
        "-S",
        ".",
        "-B",
        "build",
        "-G",
        "Ninja",
        host.cmake_package(),
        "-DCMAKE_TOOLCHAIN_FILE=toolchain.cmake",
    )
    return host, (NEWEST, "--build", "build"), host.root / "build/n6build/app"


def killed_after(outputs: int, host: Host, build: tuple[str | Path, ...], made: Path) -> bool:
    """Kill a build once so many files exist, and return whether it was killed.

    All processes that the build has started are killed, too.
    """
    process = host.start(*build)
    while process.poll() is None and len(digests_of(made)) < outputs:
        time.sleep(0.01)
    was_alive = process.poll() is None
    if was_alive:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    return was_alive


@pytest.mark.slow
@pytest.mark.parametrize("system", ["make", "cmake"])
def test_a_kill_loses_nothing(tmp_path: Path, system: str) -> None:
    host, build, made = project_of(system, tmp_path)
    assert [killed_after(outputs, host, build, made) for outputs in (1, 8, 30)] == [True] * 3
    host.call(*build)
    assert steps_in(host.call(*build)) == []
    found = digests_of(made)
    shutil.rmtree(made)
    host.call(*build)
    assert found == digests_of(made)


@pytest.mark.slow
def test_of_two_builds_at_once_one_waits_and_finds_everything_done(tmp_path: Path) -> None:
    """Build the library alone, because make itself would link the program twice."""
    host, _, _ = project_of("make", tmp_path)
    both = [host.start("make", "n6-library") for _ in range(2)]
    said = [process.communicate()[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    did = [step for text in said for step in steps_in(text)]
    assert "Library libn6networks.a" in did
    assert len(did) == len(set(did)), "both have done a step"
