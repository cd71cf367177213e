"""A package counts by what it brings, wherever it is installed and however that was done."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from n6build.plan.closure import Code

RECORD = """\
../../../bin/tool,sha256=abc,227
pack-1.dist-info/INSTALLER,sha256=pip,4
pack-1.dist-info/METADATA,sha256=def,5
pack-1.dist-info/RECORD,,
pack-1.dist-info/REQUESTED,sha256=47D,0
pack/__init__.py,sha256=ghi,10
pack/__pycache__/__init__.cpython-311.pyc,,
pack/part.so,sha256=jkl,20
"""


@pytest.fixture
def digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Of code that imports the package, with this list of its files."""

    def of(record: str) -> str:
        place = tmp_path / f"place{len(list(tmp_path.iterdir()))}"
        (place / "pack-1.dist-info").mkdir(parents=True)
        (place / "pack-1.dist-info" / "RECORD").write_text(record)
        (place / "ours").mkdir()
        (place / "ours" / "__init__.py").write_text("import pack\n")
        monkeypatch.setattr(sys, "path", [str(place)])
        return Code({"ours": place / "ours"}).digest_of("ours")

    return of


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("bin/tool,sha256=abc", "bin/tool,sha256=of another environment"),
        ("sha256=pip", "sha256=uv"),
        ("pack/__pycache__/__init__.cpython-311.pyc,,\n", ""),
        ("pack-1.dist-info/REQUESTED,sha256=47D,0\n", ""),
    ],
)
def test_how_it_was_installed_does_not_count(old: str, new: str, digest: Callable[[str], str]) -> None:
    assert old in RECORD
    assert digest(RECORD.replace(old, new)) == digest(RECORD)
    assert digest("\n".join(reversed(RECORD.split("\n")))) == digest(RECORD)


@pytest.mark.parametrize("old", ["ghi", "jkl", "def", "pack/part.so"])
def test_what_it_brings_counts(old: str, digest: Callable[[str], str]) -> None:
    assert digest(RECORD.replace(old, "other")) != digest(RECORD)
