"""Builds that go back and forth between choices.

The products are those of the first time, and nothing is made twice.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from slow_rows import slow_rows

from proof.conftest import Builds, differences

TOGGLES = {
    "profiles": (("model=anomaly", "profile=noextmem", "build"), ("model=anomaly", "build")),
    "loaders": (("model=anomaly", "loader=reloc", "build"), ("model=anomaly", "build")),
    "models": (("model=keyword", "build"), ("model=anomaly", "build")),
    "security": (
        ("model=anomaly", "loader=reloc", "secure=0", "reloc"),
        ("model=anomaly", "loader=reloc", "reloc"),
    ),
    "splitting": (
        ("model=anomaly", "loader=reloc", "split=1", "reloc"),
        ("model=anomaly", "loader=reloc", "reloc"),
    ),
}


@pytest.mark.parametrize("name", slow_rows(*TOGGLES))
def test_there_and_back_is_as_it_was(name: str, builds: Builds, tmp_path: Path) -> None:
    build = builds.copy("fsbl", tmp_path)
    there, here = TOGGLES[name]
    build.built(*here)
    first = build.made_from_nothing(*here)
    assert differences({name: build.made().get(name, "") for name in first}, first) == []
    build.built(*there)
    assert build.built(*there) == []
    other = build.made_from_nothing(*there)
    assert differences({name: build.made().get(name, "") for name in other}, other) == []
    # Only files that both choices make under one name are made again.
    shared = [name for name in first.keys() & other.keys() if first[name] != other[name]]
    back = build.built(*here)
    assert bool(back) == bool(shared), back
    assert differences({name: build.made().get(name, "") for name in first}, first) == []
    assert build.built(*here) == []
