"""Faulty workers and a killed server: the build ends right and reports once.

Workers die, lie or have a wrong clock.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from remote.farm import Farm, running_farm

from end_to_end.conftest import Project
from end_to_end.test_remote_execution import FSBL, forget, made_in, platform

pytestmark = pytest.mark.slow


@pytest.fixture
def farm() -> Iterator[Farm]:
    with running_farm(silence_s=5) as farm:
        yield farm


def remarks(output: str) -> list[str]:
    """Return the lines about the server, except for the last one with the sums."""
    lines = [line.strip() for line in output.splitlines()]
    return [line for line in lines if line.startswith("Remote ") and " sent, " not in line]


def test_a_worker_that_dies_lies_or_has_another_clock_changes_nothing(project: Project, farm: Farm) -> None:
    assert project.scons(FSBL, "-j2").status == 0
    files = made_in(project)
    farm.add_worker("dies", "--die-at-work", properties=platform())
    farm.add_worker("late", "--clock", "-31536000", properties=platform())
    forget(project)
    there = project.scons(FSBL, N6BUILD_REMOTE=farm.address, N6BUILD_REMOTE_TIMEOUT="300")
    assert (there.status, remarks(there.output)) == (0, []), there.output
    assert made_in(project) == files
    assert farm.workers["dies"].wait(60) != 0
    farm.kill_worker("late")
    farm.add_worker("lies", "--lie", properties=platform())
    # The option gives steps that the server does not remember.
    project.replace("site_scons/n6build/compile/toolchain.py", '"-Werror",', '"-Werror", "-DOTHER",')
    forget(project)
    lied = project.scons(FSBL, N6BUILD_REMOTE=farm.address, N6BUILD_REMOTE_TIMEOUT="300")
    (told,) = remarks(lied.output)
    assert "N6-REMOTE-006: the server has no build/nucleo-n657/" in told
    assert told.endswith(", this computer runs the rest")
    assert (lied.status, made_in(project)) == (0, files)


def test_a_server_that_is_killed_in_the_middle_stops_nothing(project: Project, farm: Farm) -> None:
    assert project.scons(FSBL, "-j2").status == 0
    files = made_in(project)
    forget(project)
    farm.add_worker("w1", properties=platform())
    with project.started(FSBL, "-j4", N6BUILD_REMOTE=farm.address, N6BUILD_REMOTE_TIMEOUT="2") as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if len(lines) == 10:
                farm.kill_server()
    (told,) = remarks("".join(lines))
    assert "N6-REMOTE-003: " in told
    assert (process.returncode, made_in(project)) == (0, files)
