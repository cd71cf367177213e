"""Deleted or altered outputs of every kind of step are made again.

All products are then as before.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet
from n6build.engine.ledger import read_ledger

from proof.conftest import KINDS, Build, Builds
from proof.test_data_edits import steps_of

# These steps do or show something at every call. A board's record and the results of runs are no products.
_NEVER_DONE = (
    "run",
    "pictures",
    "compared",
    "captured",
    "update",
    "started",
    "watched",
    "told",
    "field",
    "epochs",
    "ladder",
    "trial",
)
NAMES = [name for name in KINDS if name not in _NEVER_DONE]


def kind_of(step: dict[str, Any]) -> str:
    return str(step.get("function")) if step.get("function") else ("compile" if step.get("depfile") else "link")


def one_of_each(build: Build) -> dict[str, str]:
    """Return the last output of one step of each kind.

    It may be a file that is made beside the main output.
    """
    files: dict[str, str] = {}
    for step in steps_of(build):
        made = [
            file for file in step["outputs"] if (build.root / file).is_file() and (build.root / file).stat().st_size
        ]
        if made and not step.get("always"):
            files.setdefault(kind_of(step), made[-1])
    return files


def delete(path: Path) -> None:
    path.unlink()


def append(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"\n")


def change_behind_its_back(path: Path) -> None:
    """Change a file without a change of its size and modification time."""
    before = path.stat()
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x20
    path.write_bytes(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def cases() -> list[ParameterSet]:
    """Return a build of the FSBL for every run, and all others for `make test-all`.

    The others are every kind of step with every damage.
    """
    every = [(name, damage) for name in NAMES for damage in (delete, append, change_behind_its_back)]
    return [
        pytest.param(name, damage, marks=() if (name, damage) == ("fsbl", change_behind_its_back) else pytest.mark.slow)
        for name, damage in every
    ]


@pytest.mark.parametrize(("name", "damage"), cases())
def test_what_was_damaged_is_made_again(
    name: str, damage: Callable[[Path], None], builds: Builds, tmp_path: Path
) -> None:
    """All files are damaged at once: each is compared with its content before."""
    build = builds.copy(name, tmp_path)
    before = build.made()
    # The record of a programmed board is no product.
    files = {kind: file for kind, file in one_of_each(build).items() if file in before}
    # A copied file has another inode: this build records it.
    assert build.built() == []
    for file in files.values():
        damage(build.root / file)
    damaged = build.made()
    assert [file for file in files.values() if damaged.get(file) == before[file]] == []
    entries = read_ledger(build.root / "build", may_write=False).entries
    build.built()
    assert build.made() == before
    again = read_ledger(build.root / "build", may_write=False).entries
    always = {step["outputs"][0] for step in steps_of(build) if step.get("always")}
    done = {step for step, entry in again.items() if entry != entries.get(step)} - always
    assert done == {step["outputs"][0] for step in steps_of(build) if {*step["outputs"]} & {*files.values()}}
    assert build.built() == []


# Every run covers this by test_what_was_damaged_is_made_again.
@pytest.mark.slow
def test_the_steps_whose_outputs_were_damaged_are_done_and_no_others(builds: Builds, tmp_path: Path) -> None:
    build = builds.copy("fsbl", tmp_path)
    folder = build.root / "build/nucleo-n657"
    append(folder / "common/bring_up/n6_clock.o")
    change_behind_its_back(folder / "include/n6_soc_system.h")
    (folder / "fsbl/fsbl.map").unlink()
    assert sorted(build.built()) == [
        "Compile firmware/bring_up/n6_clock.c",
        "Header include/n6_soc_system.h",
        "Link fsbl/fsbl.elf",
    ]


def test_every_kind_of_step_is_damaged(builds: Builds) -> None:
    damaged = {kind for name in NAMES for kind in one_of_each(builds.original(name))}
    there = {kind_of(step) for name in NAMES for step in steps_of(builds.original(name)) if not step.get("always")}
    assert damaged == there
