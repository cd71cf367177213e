"""A lent tree is restored for the next test, whatever the last one has done."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from pathlib import Path

import pytest
from file_times import write_with_old_time

from end_to_end.lent_tree import LentTree


def write_and_set_the_time_back(folder: Path) -> None:
    write_with_old_time(folder / "a/one.c", "ONE")


def edit_as_a_mapped_file(folder: Path) -> None:
    with (folder / "a/one.c").open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[0:3] = b"ONE"


def file_for_a_folder(folder: Path) -> None:
    (folder / "a/one.c").unlink()
    (folder / "a/two.pyc").unlink()
    (folder / "a").rmdir()
    (folder / "a").write_text("")


def folder_for_a_file(folder: Path) -> None:
    (folder / "a/one.c").unlink()
    (folder / "a/one.c/deep").mkdir(parents=True)
    (folder / "a/one.c/deep/file").touch()


def link_elsewhere(folder: Path) -> None:
    (folder / "link").unlink()
    (folder / "link").symlink_to("b")


CHANGES: dict[str, Callable[[Path], object]] = {
    "written": write_and_set_the_time_back,
    "mapped": edit_as_a_mapped_file,
    "mode": lambda folder: (folder / "a/one.c").chmod(0o400),
    "gone": lambda folder: (folder / "a/one.c").unlink(),
    "link elsewhere": link_elsewhere,
    "new": lambda folder: (folder / "new/er").mkdir(parents=True),
    "file for a folder": file_for_a_folder,
    "folder for a file": folder_for_a_file,
}


def contents(folder: Path) -> dict[str, object]:
    return {
        str(path.relative_to(folder)): (path.lstat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_change_is_put_back(change: Callable[[Path], object], tmp_path: Path) -> None:
    original = tmp_path / "original"
    (original / "a").mkdir(parents=True)
    (original / "a/one.c").write_text("one")
    (original / "a/two.pyc").write_text("two")
    (original / "link").symlink_to("a")
    expected = contents(original)
    tree = LentTree(original, tmp_path / "lent")
    for _ in range(2):
        folder = tree.as_it_was()
        assert contents(folder) == expected
        assert (folder / "link").readlink() == Path("a")
        change(folder)
    assert contents(tree.as_it_was()) == expected
    assert contents(original) == expected


def test_what_is_kept_stays_as_the_last_test_left_it(tmp_path: Path) -> None:
    (tmp_path / "original/kept").mkdir(parents=True)
    tree = LentTree(tmp_path / "original", tmp_path / "lent", "kept")
    for name in ("kept/one", "other"):
        (tree.as_it_was() / name).touch()
    assert sorted(contents(tree.as_it_was())) == ["kept", "kept/one"]
