"""The content of files decides about a build, never their times."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from proof.conftest import BOARD, Build, Builds

YEAR_2001 = 1_000_000_000 * 10**9
GOALS = (f"{BOARD}/fsbl_image.bin",)
EDITS = {
    "C": ("firmware/fsbl/main.c", "not switch to the internal", "not SWITCH to the internal"),
    "a header": (
        "firmware/bring_up/n6_clock.h",
        "#ifndef",
        '__attribute__((used)) static const char n6_new[] = "";\n#ifndef',
    ),
    "a template": ("firmware/templates/program.ld.j2", "SECTIONS", "/* new */ SECTIONS"),
    "a description": ("boards/nucleo-n657/board.yaml", "baud: 115_200", "baud: 230_400"),
    "the library": ("site_scons/n6build/place/image/boot_header.py", "hashlib.shake_128", "hashlib.shake_256"),
}


def edit(build: Build, name: str) -> Path:
    file, old, new = EDITS[name]
    path = build.root / file
    build.project.replace(file, old, new)
    return path


def cases() -> list[ParameterSet]:
    """Return the edit that SCons alone would miss; `make test-all` runs every pair."""
    chosen = {("years ago", "the library")}
    pairs = [(when, name) for when in ("as before", "years ago") for name in EDITS]
    return [pytest.param(*pair, marks=() if pair in chosen else pytest.mark.slow) for pair in pairs]


@pytest.mark.parametrize(("when", "name"), cases())
def test_an_edit_under_an_old_time_is_built(when: str, name: str, builds: Builds, tmp_path: Path) -> None:
    build = builds.copy("fsbl", tmp_path)
    before = build.made()
    path = build.root / EDITS[name][0]
    if when == "years ago":
        # SCons would trust a time that is older than two days, once it has seen it.
        os.utime(path, ns=(YEAR_2001, YEAR_2001))
        assert build.built(*GOALS) == []
    time = path.stat().st_mtime_ns
    os.utime(edit(build, name), ns=(time, time))
    assert build.built(*GOALS) != []
    made = build.made()
    assert made != before
    assert made == build.made_from_nothing(*GOALS)


def test_times_alone_build_nothing(builds: Builds, tmp_path: Path) -> None:
    build = builds.copy("fsbl", tmp_path)
    for number, folder in enumerate(("firmware", "boards", "models", "site_scons", "build/nucleo-n657")):
        for path in (build.root / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                os.utime(path, None if number % 2 else (1, 1))
    assert build.built(*GOALS) == []


# Every run covers this by test_an_edit_under_an_old_time_is_built[years ago-the library].
@pytest.mark.slow
def test_two_edits_of_the_library_within_a_second_are_both_built(builds: Builds, tmp_path: Path) -> None:
    """Python keeps compiled modules under the source's size and whole seconds."""
    build = builds.copy("fsbl", tmp_path)
    image = build.root / GOALS[0]
    first = image.read_bytes()
    path = edit(build, "the library")
    os.utime(path, ns=(YEAR_2001, YEAR_2001))
    build.built(*GOALS)
    second = image.read_bytes()
    path.write_text(path.read_text().replace("hashlib.shake_256", "hashlib.shake_128"))
    os.utime(path, ns=(YEAR_2001, YEAR_2001))
    build.built(*GOALS)
    assert image.read_bytes() == first != second
