"""The configured tree of QEMU, which outlives the checkout that configured it."""

from __future__ import annotations

from pathlib import Path

import pytest
from n6build.board.virtual_board.build import is_usable

NINJA = """rule CUSTOM
 command = {0}/bin/python3 -m mesonbuild
build trace.h: CUSTOM trace-events | {0}/bin/python3 {0}/bin/meson ../scripts/tracetool.py
"""


def test_a_tree_that_was_never_configured_is_not_usable(tmp_path: Path) -> None:
    assert not is_usable(tmp_path / "build.ninja")


@pytest.mark.parametrize("lost", ["python3", "meson"])
def test_a_tree_is_configured_again_once_the_checkout_that_did_it_is_gone(lost: str, tmp_path: Path) -> None:
    """Otherwise ninja finds no rule to make the Python of a removed .venv."""
    programs = tmp_path / "checkout/.venv/bin"
    programs.mkdir(parents=True)
    for name in ("python3", "meson"):
        (programs / name).touch()
    ninja = tmp_path / "build.ninja"
    ninja.write_text(NINJA.format(programs.parent))
    assert is_usable(ninja)
    (programs / lost).unlink()
    assert not is_usable(ninja)
