"""Remembered digests of import closures are those that reading would give."""

from __future__ import annotations

from collections.abc import Callable
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest
from file_times import write_with_old_time
from n6build.engine import known_files as module
from n6build.engine.closure import Code
from n6build.engine.known_files import keep_known_code, known_code


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a library of three modules, old enough for their times to be trusted."""
    folder = tmp_path / "p"
    (folder / "inner").mkdir(parents=True)
    for name, text in {
        "__init__": "",
        "a": "from p.inner import b\n",
        "inner/__init__": "",
        "inner/b": "x = 1\n",
    }.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.setattr(module, "library_code", lambda: Code({"p": folder}))
    monkeypatch.setattr("n6build.base.uses._YOUNG_NS", -1)
    return folder


def asked(build: Path) -> str:
    code = known_code(build)
    digest = code.digest_of("p.a")
    keep_known_code(code, build)
    return digest


def test_what_is_known_is_not_read_again(sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = asked(tmp_path)
    monkeypatch.setattr(Code, "parts_of", None)
    assert asked(tmp_path) == first


def test_it_is_not_written_again_if_nothing_is_new(sources: Path, tmp_path: Path) -> None:
    asked(tmp_path)
    (kept,) = (tmp_path / ".n6build").iterdir()
    written = kept.stat().st_mtime_ns
    asked(tmp_path)
    assert kept.stat().st_mtime_ns == written


def replaced(folder: Path) -> None:
    """Replace a module by one of equal length and time; its change time reveals it."""
    write_with_old_time(folder / "inner/b.py", "x = 2\n")


def package_beside_a_module(folder: Path) -> None:
    """Add a package beside a module of the same name: Python takes the package."""
    (folder / "inner/b").mkdir()
    (folder / "inner/b/__init__.py").write_text("x = 2\n")


def library_beside_a_module(folder: Path) -> None:
    (folder / f"inner/b{EXTENSION_SUFFIXES[0]}").write_bytes(b"\x7fELF")


def removed(folder: Path) -> None:
    (folder / "inner/b.py").unlink()


CHANGES = [replaced, package_beside_a_module, library_beside_a_module, removed]


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_seen(change: Callable[[Path], None], sources: Path, tmp_path: Path) -> None:
    first = asked(tmp_path)
    change(sources)
    expected = Code({"p": sources}).digest_of("p.a")
    assert expected != first
    assert asked(tmp_path) == expected


def test_a_file_changed_just_now_is_not_relied_on(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("n6build.base.uses._YOUNG_NS", 3_600_000_000_000)
    asked(tmp_path)
    assert not (tmp_path / ".n6build").exists()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"state": 1}', '{"digests": {}}', "[" * 100_000])
def test_a_damaged_memory_is_none(text: str, sources: Path, tmp_path: Path) -> None:
    first = asked(tmp_path)
    (kept,) = (tmp_path / ".n6build").iterdir()
    kept.write_text(text)
    assert asked(tmp_path) == first


def test_digests_that_are_no_texts_are_none(sources: Path, tmp_path: Path) -> None:
    first = asked(tmp_path)
    (kept,) = (tmp_path / ".n6build").iterdir()
    kept.write_text(kept.read_text().partition('"digests"')[0] + '"digests": [1]}')
    assert asked(tmp_path) == first
