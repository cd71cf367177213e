"""The quick answer, given only while all files of the last build are unchanged.

For any other state, the front steps aside.
"""

from __future__ import annotations

import fcntl
import os
import posix
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from file_times import write_with_old_time
from hypothesis import given
from hypothesis import strategies as st
from n6build.engine import ask

TOLD = b"scons: `build' is up to date.\n"
WORDS = ["scons", "-Q", "build"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder in which a build was done.

    The build used a file, a link, the content of a folder, and the absence of a file.
    """
    monkeypatch.chdir(tmp_path)
    # pytest's own variables are left out.
    monkeypatch.setattr(posix, "environ", {b"PATH": b"/usr/bin", b"HOME": b"/home/somebody"})
    (tmp_path / "build/.n6build/front").mkdir(parents=True)
    (tmp_path / "build/.n6build/lock").touch()
    (tmp_path / "source.c").write_text("int a;")
    (tmp_path / "other.c").write_text("int b;")
    (tmp_path / "include").mkdir()
    (tmp_path / "include/a.h").touch()
    (tmp_path / "link.c").symlink_to("source.c")
    record(tmp_path)
    return tmp_path


def record(place: Path, told: bytes = TOLD) -> Path:
    seen = [os.fsencode(place / name) for name in ("source.c", "link.c", "include", "include/absent.h")]
    looked = [(ask.state_of(path), path) for path in seen]
    # The build only used the existence of this folder.
    looked.append((ask.state_of(os.fsencode(place), b"/"), os.fsencode(place)))
    call = ask.call_of(WORDS)
    path = place / os.fsdecode(ask.file_of(call, ask.folder_of(WORDS)))
    path.write_bytes(ask.written(call, told, looked))
    return path


def test_a_silent_answer_is_an_answer(place: Path) -> None:
    record(place, b"")
    assert ask.answer(WORDS) == b""


def test_an_answer_lies_in_the_build_folder_that_the_call_names() -> None:
    assert ask.folder_of(["n6build", "library", "--build", "out/x", "board=a"]) == b"out/x/.n6build"
    assert ask.folder_of(["n6build", "library", "--build"]) == b"build/.n6build"
    assert ask.folder_of(["scons", "--build", "out"]) == b"build/.n6build"


def test_variables_of_make_are_not_part_of_a_call(place: Path) -> None:
    posix.environ[b"MAKEFLAGS"] = b" -j4 --jobserver-auth=fifo:/tmp/GMfifo12"
    posix.environ[b"MAKELEVEL"] = b"2"
    assert ask.answer(WORDS) == TOLD
    posix.environ[b"N6BUILD_BOARD"] = b"openmv-n6"
    assert ask.answer(WORDS) is None


def test_nothing_changed(place: Path) -> None:
    (place / "not-looked-at").touch()
    assert ask.answer(WORDS) == TOLD


def _same_size_and_time(place: Path) -> None:
    write_with_old_time(place / "source.c", "int z;")


def _replaced(place: Path) -> None:
    before = (place / "source.c").stat()
    (place / "new").write_text("int a;")
    os.utime(place / "new", ns=(before.st_atime_ns, before.st_mtime_ns))
    (place / "new").rename(place / "source.c")


def _folder_in_its_place(place: Path) -> None:
    (place / "source.c").unlink()
    (place / "source.c").mkdir()


def _retargeted(place: Path) -> None:
    (place / "link.c").unlink()
    (place / "link.c").symlink_to("other.c")


def _another_folder(place: Path) -> None:
    (place / "include").rename(place / "before")
    (place / "include").mkdir()
    (place / "include/a.h").touch()


CHANGES: dict[str, Callable[[Path], object]] = {
    "content, with size and time as before": _same_size_and_time,
    "content": lambda place: (place / "source.c").write_text("int a, b;"),
    "time alone": lambda place: (place / "source.c").touch(),
    "permissions": lambda place: (place / "source.c").chmod(0o755),
    "another file in its place": _replaced,
    "gone": lambda place: (place / "source.c").unlink(),
    "a folder in its place": _folder_in_its_place,
    "where a link leads": _retargeted,
    "what was absent is there": lambda place: (place / "include/absent.h").touch(),
    "another file in the folder": lambda place: (place / "include/b.h").touch(),
    "a name in the folder": lambda place: (place / "include/a.h").rename(place / "include/b.h"),
    "one file less in the folder": lambda place: (place / "include/a.h").unlink(),
    "another folder": _another_folder,
    "no lock, so no build here": lambda place: (place / "build/.n6build/lock").unlink(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_noticed(place: Path, change: str) -> None:
    CHANGES[change](place)
    assert ask.answer(WORDS) is None


@pytest.mark.parametrize(
    "words", [["scons", "-Q"], ["scons", "build", "-Q"], ["scons", "-Q", "build", "-n"], ["scons", "-Q", "flash"], []]
)
def test_other_words_are_another_call(place: Path, words: list[str]) -> None:
    assert ask.answer(words) is None


def test_variables_folder_user_and_terminal_are_part_of_the_call(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = dict(posix.environ)
    # A shell sets these variables about itself.
    monkeypatch.setattr(posix, "environ", {**environment, b"_": b"/usr/bin/make", b"SHLVL": b"7", b"OLDPWD": b"/"})
    assert ask.answer(WORDS) == TOLD
    for changed in ({b"N6BUILD_BOARD": b"nucleo-n657"}, {b"PATH": b"/elsewhere"}, {b"SCONSFLAGS": b"-n"}):
        monkeypatch.setattr(posix, "environ", {**environment, **changed})
        assert ask.answer(WORDS) is None
    monkeypatch.setattr(posix, "environ", {name: value for name, value in environment.items() if name != b"PATH"})
    assert ask.answer(WORDS) is None
    monkeypatch.setattr(posix, "environ", environment)
    for what, otherwise in (("isatty", lambda _: True), ("geteuid", lambda: 4711), ("getcwdb", lambda: b"/elsewhere")):
        with monkeypatch.context() as other:
            other.setattr(posix, what, otherwise)
            assert ask.answer(WORDS) is None
    assert ask.answer(WORDS) == TOLD


def test_values_of_variables_are_not_written_down(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posix, "environ", {b"N6BUILD_KEY_PASSWORD": b"swordfish"})
    assert b"swordfish" not in record(place).read_bytes()
    assert ask.answer(WORDS) == TOLD


def test_another_build_is_waited_for_by_scons(place: Path) -> None:
    with (place / "build/.n6build/lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert ask.answer(WORDS) is None
    assert ask.answer(WORDS) == TOLD


def test_what_is_not_a_file_of_this_user_is_not_read(place: Path) -> None:
    path = record(place)
    data = path.read_bytes()
    path.unlink()
    os.mkfifo(path)
    assert ask.answer(WORDS) is None
    path.unlink()
    path.write_bytes(data)
    os.truncate(path, 17 << 20)
    assert ask.answer(WORDS) is None
    path.write_bytes(data)
    assert ask.answer(WORDS) == TOLD
    if os.geteuid() == 0:
        os.chown(path, 4711, -1)
        assert ask.answer(WORDS) is None


@pytest.mark.parametrize("told", [b"\x1b]0;title\x07", b"\x1b[2J", b"a\rb", b"\x7f"])
def test_only_plain_text_reaches_the_terminal(place: Path, told: bytes) -> None:
    record(place, told)
    assert ask.answer(WORDS) is None
    record(place, b"\x1b[36m    Nothing\x1b[0m to do \xc3\xa9\n")
    assert ask.answer(WORDS) is not None


@pytest.fixture(scope="module")
def sample() -> Iterator[tuple[bytes, bytes]]:
    call = ask.call_of(WORDS)
    yield call, ask.written(call, TOLD, [(b"-", b"/a"), (b"1 2 3 4 5 6", b"/b")])


@given(data=st.data())
def test_a_damaged_file_is_none(sample: tuple[bytes, bytes], data: st.DataObject) -> None:
    call, whole = sample
    at = data.draw(st.integers(0, len(whole) - 1))
    bit = 1 << data.draw(st.integers(0, 7))
    flipped = whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :]
    for damaged in (flipped, whole[:at], whole[at + 1 :], whole + b"\0"):
        with pytest.raises(ValueError):
            ask.understood(damaged, call)
    assert ask.understood(whole, call)[0] == TOLD
