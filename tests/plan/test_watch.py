"""Files that a step may use undeclared: the user's records and caches.

The rule holds for a project at any place.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from n6build.base.errors import N6Error
from n6build.base.files import files_in, write_atomically
from n6build.engine.step import Step
from n6build.engine.watch import watched

RECORD = ".local/state/n6build/boards/0030.json"
PROGRAM = ".cache/n6build/npu_model/1/program"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a home folder that is also the project."""
    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def use(home: Path, path: str) -> None:
    """Write, read and list files as a step does that records a board."""
    step = Step("Use", "flash", ("build/receipt",), function="n6build.steps.missing_sectors:make_missing_sectors")
    with watched(step, home, home / "build"):
        write_atomically(home / path, "{}")
        (home / path).read_bytes()
        files_in((home / path).parent, "*.json")
        list((home / path).parent.iterdir())
        list((home / path).parent.parent.iterdir())


@pytest.mark.parametrize("path", [RECORD, PROGRAM])
def test_records_and_caches_of_the_user_are_no_part_of_a_project_in_home(path: str, home: Path) -> None:
    use(home, path)


@pytest.mark.parametrize("path", [".local/state/other/boards/0030.json", "boards/0030.json"])
def test_other_files_in_home_are_refused(path: str, home: Path) -> None:
    with pytest.raises(N6Error, match="without declaring it"):
        use(home, path)


def test_a_project_inside_the_cache_is_watched_as_any_other(home: Path) -> None:
    project = home / ".cache/n6build/project"
    with pytest.raises(N6Error, match="without declaring it"):
        use(project, "boards/0030.json")
