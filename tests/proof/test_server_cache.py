"""Builds that share a real server: they fetch its files.

Without the server they make the same files.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from build_grid import Server, build_grid
from end_to_end.conftest import Project, make_project
from n6build.engine.ledger import Entry, read_ledger
from patience import NET_S

from proof.conftest import BOARD, tree

GOALS = (f"{BOARD}/fsbl_image.bin",)
OBJECT = f"{BOARD}/fsbl/main.o"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with build_grid(tmp_path_factory.mktemp("server")) as server:
        yield server


def checkout(folder: Path) -> Project:
    folder.mkdir()
    return make_project(folder)


def made(project: Project) -> dict[str, str]:
    return tree(project.root / "build")


def ledger(project: Project) -> Mapping[str, Entry]:
    return read_ledger(project.root / "build", may_write=False).entries


def host_compilers(folder: Path) -> Path:
    """Write programs with the names of the host's compilers, which log their calls."""
    folder.mkdir()
    for name in ("cc", "gcc", "c++", "g++"):
        program = folder / name
        program.write_text(f'#!/bin/sh\necho "$0 $*" >> {folder}/run\n')
        program.chmod(0o755)
    return folder


def test_builds_share_a_server_and_go_on_without_it(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = f"cache={server.address}"
    # Two checkouts build at once with an empty cache.
    pair = [checkout(tmp_path / name) for name in ("one", "other $x'")]
    running = [project.started(cache, *GOALS) for project in pair]
    outputs = [process.communicate(timeout=NET_S)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0], outputs
    assert made(pair[0]) == made(pair[1])
    # A third checkout fetches everything and may not write. No build calls the host's compiler.
    programs = host_compilers(tmp_path / "programs")
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    first, third = pair
    expected = ledger(third)
    shutil.rmtree(third.root / "build")
    result = third.done(cache, "cache_write=0", *GOALS)
    assert result.actions == [], (outputs, result.output)
    fetched = result.output.count(" Fetch ")
    assert fetched > 10
    assert made(third) == made(first)
    entries = ledger(third)
    assert {entry.origin for entry in entries.values()} == {"elsewhere"}
    assert {name: entry.inputs for name, entry in entries.items()} == {
        name: entry.inputs for name, entry in expected.items()
    }
    assert "stored" not in result.output
    assert not (programs / "run").exists()
    assert third.scons(cache, *GOALS).actions == []
    # Now the server is gone.
    server.kill()
    shutil.rmtree(third.root / "build")
    result = third.done(cache, OBJECT)
    assert result.output.count("continuing without this cache") == 1
    assert len(result.actions) > 2
    assert made(third).items() <= made(first).items()
    assert (third.root / OBJECT).is_file()


def test_what_a_server_needs_is_loaded_for_a_server_alone(tmp_path: Path) -> None:
    """A missing package is an error of the user's set-up.

    tests/remote/test_odd_servers.py has misspelt addresses.
    """
    without = tmp_path / "without" / "grpc"
    without.mkdir(parents=True)
    (without / "__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'grpc'\", name='grpc')\n")
    project = checkout(tmp_path / "checkout")
    paths = os.pathsep.join([str(project.root / "site_scons"), str(without.parent)])
    for given, status, said in (
        ("cache=grpc://localhost:1/main", 2, "N6-SETUP-003: Python package 'grpc' is missing"),
        (f"cache={tmp_path / 'folder'}", 0, "Header"),
    ):
        result = project.scons(given, f"{BOARD}/include/n6_soc.h", PYTHONPATH=paths)
        assert result.status == status, result.output
        assert said in result.output
        assert "Traceback" not in result.output
