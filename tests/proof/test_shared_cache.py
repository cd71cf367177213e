"""A cache that two checkouts share gives only their common results."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from end_to_end.conftest import Project, make_project

from proof.conftest import BOARD, KINDS, Build, Builds, differences
from proof.test_file_times import edit

GOALS = (f"{BOARD}/fsbl_image.bin",)


@pytest.fixture(scope="module")
def first(builds: Builds, tmp_path_factory: pytest.TempPathFactory) -> tuple[Build, Path]:
    """Return a checkout that has filled a cache, and the cache."""
    folder = tmp_path_factory.mktemp("first")
    make_project(folder)
    build = Build(KINDS["fsbl"], Project(folder / "project", folder / "home"), builds.memo)
    build.built(f"cache={folder / 'cache'}", *GOALS)
    return build, folder / "cache"


@pytest.fixture
def second(first: tuple[Build, Path], tmp_path: Path) -> tuple[Build, Path]:
    """Return another checkout of the same files, and a copy of the cache.

    Nothing is built in the checkout.
    """
    build, cache = first
    (tmp_path / "elsewhere").mkdir()
    make_project(tmp_path / "elsewhere")
    shutil.copytree(cache, tmp_path / "cache")
    project = Project(tmp_path / "elsewhere/project", tmp_path / "elsewhere/home")
    return replace(build, project=project), tmp_path / "cache"


def compiled(actions: list[str]) -> list[str]:
    return [action for action in actions if action.startswith(("Compile", "Link"))]


def ledger(build: Build) -> dict[str, dict[str, Any]]:
    lines = (build.root / "build/.n6build/ledger.jsonl").read_text().splitlines()
    return {entry["name"]: entry for entry in map(json.loads, lines)}


def fetched(output: str) -> int:
    return output.count(" Fetch ")


# Every run covers this by test_server_cache.py, and the content of a folder by tests/plan/test_folder_cache.py.
@pytest.mark.slow
def test_equal_code_is_fetched_and_known(first: tuple[Build, Path], second: tuple[Build, Path]) -> None:
    build, cache = second
    result = build.scons(f"cache={cache}", *GOALS).done()
    assert result.actions == []
    assert fetched(result.output) > 10
    assert build.made() == first[0].made()
    entries = ledger(build)
    assert {entry["origin"] for entry in entries.values()} == {"elsewhere"}
    here = ledger(first[0])
    assert {name: entry["inputs"] for name, entry in entries.items()} == {
        name: entry["inputs"] for name, entry in here.items()
    }
    assert "In all nothing to do: " in build.scons(f"cache={cache}", "plan", *GOALS).output
    assert build.built(f"cache={cache}", *GOALS) == []


def new_header_in_front(build: Build) -> None:
    """Add a header with the name of a header in another folder."""
    shutil.copy(build.root / "firmware/bring_up/n6_clock.h", build.root / "firmware/fsbl/n6_clock.h")
    edit(build, "a header")
    shutil.move(build.root / "firmware/bring_up/n6_clock.h", build.root / "firmware/bring_up/aside.h")
    shutil.move(build.root / "firmware/fsbl/n6_clock.h", build.root / "firmware/bring_up/n6_clock.h")
    shutil.move(build.root / "firmware/bring_up/aside.h", build.root / "firmware/fsbl/n6_clock.h")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["the library", "a header", "a header in front", "a template"])
def test_other_code_is_built(name: str, second: tuple[Build, Path]) -> None:
    build, cache = second
    if name == "a header in front":
        new_header_in_front(build)
    else:
        edit(build, name)
    result = build.scons(f"cache={cache}", *GOALS).done()
    assert result.actions != []
    assert fetched(result.output) > 0
    made = {name: each for name, each in build.made().items() if not name.endswith(".d")}
    clean = build.made_from_nothing(*GOALS)
    assert differences(made, {name: each for name, each in clean.items() if not name.endswith(".d")}) == []


def entries_of(cache: Path) -> list[Path]:
    return [path for path in cache.rglob("*") if path.is_file()]


# Every run covers this by tests/plan/test_folder_cache.py.
@pytest.mark.slow
def test_an_entry_that_was_altered_is_not_believed(first: tuple[Build, Path], second: tuple[Build, Path]) -> None:
    """tests/plan/test_folder_cache.py has each kind of damage."""
    build, cache = second
    for path in entries_of(cache):
        data = bytearray(path.read_bytes())
        data[-1] ^= 1
        path.write_bytes(data)
    result = build.scons(f"cache={cache}", *GOALS)
    assert compiled(result.actions) != []
    assert result.output.count("N6-CACHE-002") == 1
    assert build.made() == first[0].made()
    # Correct entries have replaced the altered ones, also for steps with several outputs.
    shutil.rmtree(build.root / "build")
    assert build.built(f"cache={cache}", *GOALS) == []
    assert build.made()[GOALS[0]] == first[0].made()[GOALS[0]]
