"""A compiler counts with all headers of its own folders.

Headers that are added or removed later count, too.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from n6build.base import uses
from n6build.base.environment import read_environment
from n6build.compile.toolchain import COMPILER, find_toolchain


@pytest.fixture
def compiler(tmp_path: Path) -> Path:
    """Make a driver of the real compiler with two more folders of headers.

    One folder has a header, the other one does not exist.
    """
    (tmp_path / "bin").mkdir()
    (tmp_path / "include/sys").mkdir(parents=True)
    (tmp_path / "include/sys/own.h").write_text("#define OWN 1\n")
    driver = tmp_path / "bin" / COMPILER
    folders = f"-isystem '{tmp_path}/absent' -isystem '{tmp_path}/include'"
    driver.write_text(f'#!/bin/sh\nexec {shutil.which(COMPILER)} {folders} "$@"\n')
    driver.chmod(0o755)
    return tmp_path


def digest(compiler: Path) -> str:
    """Return the digest of the compiler, from its description at the first call."""
    environment = {"PATH": f"{compiler}/bin:/usr/bin:/bin", "HOME": str(compiler)}
    return find_toolchain(read_environment(environment), compiler / "notes").tool.digest


def added(compiler: Path) -> None:
    (compiler / "include/new.h").write_text("")


def added_further_down(compiler: Path) -> None:
    (compiler / "include/sys/deep").mkdir()
    (compiler / "include/sys/deep/new.h").write_text("")


def added_with_another_suffix(compiler: Path) -> None:
    (compiler / "include/sys/table.inc").write_text("")


def moved(compiler: Path) -> None:
    (compiler / "include/sys/own.h").rename(compiler / "include/own.h")


def removed(compiler: Path) -> None:
    (compiler / "include/sys/own.h").unlink()


def folder_appeared(compiler: Path) -> None:
    (compiler / "absent").mkdir()
    (compiler / "absent/stdint.h").write_text("")


@pytest.mark.parametrize(
    "change", [added, added_further_down, added_with_another_suffix, moved, removed, folder_appeared]
)
def test_every_change_of_its_headers_is_another_compiler(change: Callable[[Path], None], compiler: Path) -> None:
    with uses.recorded() as used:
        first = digest(compiler)
    looked_at = {use: uses.fingerprint(use) for use in used.lines}
    assert digest(compiler) == first
    change(compiler)
    assert digest(compiler) != first
    # A remembered plan is made again, because the content of folders has changed.
    assert any(uses.fingerprint(use) != before for use, before in looked_at.items())


def test_headers_of_cpp_do_not_count(compiler: Path) -> None:
    first = digest(compiler)
    (compiler / "include/c++").mkdir()
    (compiler / "include/c++/vector.h").write_text("")
    assert digest(compiler) == first
