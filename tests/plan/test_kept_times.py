"""An output that is made again with equal bytes keeps its time.

Other build systems then have nothing more to do.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from n6build.engine.local import execute, local_site
from n6build.engine.perform import Site
from n6build.engine.plan import make_plan
from n6build.engine.step import Step

# The first output takes only the first line of the source.
STEP = Step(
    verb="Make",
    stage="test",
    outputs=("build/first", "build/all"),
    sources=("source",),
    command=("sh", "-c", "head -n 1 source > build/first; cp source build/all"),
)


def build() -> Site:
    site = local_site(Path("build"), {"PATH": os.environ["PATH"]})
    execute(make_plan([STEP]), STEP.outputs, site)
    return site


@pytest.fixture
def times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Return the modification times of both outputs, some time after a build."""
    monkeypatch.chdir(tmp_path)
    Path("source").write_text("one\ntwo\n")
    build()
    return {name: Path(name).stat().st_mtime_ns for name in STEP.outputs}


def test_only_an_output_with_other_bytes_gets_another_time(times: dict[str, int]) -> None:
    Path("source").write_text("one\nthree\n")
    assert len(build().done) == 1
    assert Path("build/first").stat().st_mtime_ns == times["build/first"]
    assert Path("build/all").stat().st_mtime_ns > times["build/all"]
    # The record has the file in its present state.
    assert build().done == []


def test_an_output_that_was_altered_gets_the_time_of_its_repair(times: dict[str, int]) -> None:
    Path("build/first").write_text("altered\n")
    os.utime("build/first", ns=(1, 1))
    assert len(build().done) == 1
    assert Path("build/first").stat().st_mtime_ns > times["build/first"]


def test_an_output_that_was_missing_gets_the_time_when_it_was_made(times: dict[str, int]) -> None:
    Path("build/first").unlink()
    assert len(build().done) == 1
    assert Path("build/first").stat().st_mtime_ns > times["build/first"]
    assert Path("build/all").stat().st_mtime_ns == times["build/all"]


def test_a_step_removes_the_temporary_file_of_a_killed_build(times: dict[str, int]) -> None:
    left, other = Path("build/.first.k1lled_x"), Path("build/.firsts.k1lled_x")
    for path in (left, other):
        path.touch()
    Path("source").write_text("one\nthree\n")
    build()
    assert (left.exists(), other.exists()) == (False, True)
