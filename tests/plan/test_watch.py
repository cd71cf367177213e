"""Files that a step may use undeclared: the user's records and caches.

The rule holds for a project at any place.
"""

from __future__ import annotations

import importlib.util
from importlib import metadata
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
    step = Step("Use", "flash", ("build/receipt",), function="n6build.steps.image_sizes:make_missing_sectors")
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


def test_python_may_look_for_packages_in_the_project(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The project is in sys.path for `python -m SCons`, and onnx lists packages."""
    project = home / "project"
    project.mkdir()
    monkeypatch.syspath_prepend(str(project))
    (home / "street.jpg").touch()
    step = Step(
        "Inputs", "inputs", ("build/a",), (str(home / "street.jpg"),), "n6build.steps.given_inputs:make_given_inputs"
    )
    with watched(step, project, project / "build"):
        importlib.invalidate_caches()
        assert importlib.util.find_spec("no_such_module") is None
        assert [*metadata.distributions(name="pytest")]
    with pytest.raises(N6Error, match="N6-STEP-001"), watched(step, project, project / "build"):
        list(project.iterdir())
