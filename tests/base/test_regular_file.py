"""Files that never end, and those that are something else, are refused at once."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from n6build.base import uses
from n6build.base.errors import N6Error
from n6build.base.files import digest_of, file_size, read_at_most, read_bytes, read_in_chunks, write_atomically
from n6build.base.regular_file import LARGEST_FILE, chunks_of, content_of, open_regular

READERS: dict[str, Callable[[Path], object]] = {
    "read_bytes": read_bytes,
    "read_at_most": lambda path: read_at_most(path, 100),
    "read_in_chunks": lambda path: list(read_in_chunks(path)),
    "file_size": file_size,
}


def fifo(path: Path) -> None:
    os.mkfifo(path)


def listening(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(str(path))


def zeros(path: Path) -> None:
    """Make a device of its own: a test must never write to one of the system."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("only root makes devices")


KINDS = {"a FIFO": fifo, "a socket": listening, "a device": zeros}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", KINDS)
def test_only_regular_files_are_read(kind: str, reader: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A socket's path is short.
    monkeypatch.chdir(tmp_path)
    KINDS[kind](Path("other"))
    with pytest.raises(N6Error, match=f"N6-FILE-002: cannot read: it is {kind}, not a regular file"):
        READERS[reader](Path("other"))
    assert digest_of(Path("other")) == uses.digest_of("other") == ""
    Path("link").symlink_to("other")
    with pytest.raises(N6Error, match="N6-FILE-002"):
        READERS[reader](Path("link"))


@pytest.mark.parametrize("kind", KINDS)
def test_an_output_replaces_no_device(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build of root with log=/dev/null would remove it from the system."""
    monkeypatch.chdir(tmp_path)
    KINDS[kind](Path("other"))
    before = Path("other").lstat()
    with pytest.raises(N6Error, match=f"N6-FILE-001: cannot write: it is {kind}, not a regular file"):
        write_atomically(Path("other"), b"text")
    assert Path("other").lstat() == before
    assert [path.name for path in Path().iterdir()] == ["other"]


def test_a_folder_is_none(tmp_path: Path) -> None:
    with pytest.raises(N6Error, match="N6-FILE-002: cannot read: Is a directory"):
        read_bytes(tmp_path)
    with pytest.raises(N6Error, match="N6-FILE-001: cannot write: Is a directory"):
        write_atomically(tmp_path, b"text")


def test_a_file_of_any_size_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    path.touch()
    os.truncate(path, LARGEST_FILE + 1)
    with pytest.raises(N6Error, match=f"N6-FILE-002: cannot read: it has {LARGEST_FILE + 1} bytes; the largest"):
        read_bytes(path)
    assert digest_of(path) == ""


@pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="no /proc")
def test_a_file_of_the_system_without_a_size_is_refused() -> None:
    with pytest.raises(N6Error, match="N6-FILE-002: cannot read: it has no size, as a file of the system"):
        read_bytes(Path("/proc/self/status"))


def test_a_file_that_grows_is_read_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"0123456789")
    with open_regular(path) as file, path.open("ab") as writer:
        found = b""
        for chunk in chunks_of(file, 4, first=2):
            found += chunk
            writer.write(b"more")
            writer.flush()
    assert found == b"0123456789"
    assert content_of(path, 3) == b"012"


def test_a_file_that_shrinks_ends(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(bytes(1 << 16))
    with open_regular(path) as file:
        os.truncate(path, 0)
        assert b"".join(chunks_of(file)) == b""
