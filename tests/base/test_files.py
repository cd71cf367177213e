"""A file is written whole or not at all."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from n6build.base.errors import N6Error
from n6build.base.files import (
    read_at_most,
    read_bytes,
    read_in_chunks,
    remove_unfinished,
    require_content,
    write_atomically,
)


def test_a_full_disk_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    target = tmp_path / "network.c"
    write_atomically(target, "old")
    script = "import sys, pathlib; from n6build.base.files import write_atomically\n"
    script += "write_atomically(pathlib.Path(sys.argv[1]), bytes(1 << 20))"

    def small_files_only() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    result = subprocess.run(
        [sys.executable, "-c", script, str(target)],
        preexec_fn=small_files_only,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "N6-FILE-001" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["network.c"]
    assert target.read_text() == "old"


def test_the_temporary_file_of_a_killed_writer_is_found(tmp_path: Path) -> None:
    target = tmp_path / "network[1].c"
    script = """
import os, pathlib, signal, sys
from n6build.base.files import write_chunks_atomically
def chunks():
    yield b"half"
    os.kill(os.getpid(), signal.SIGKILL)
write_chunks_atomically(pathlib.Path(sys.argv[1]), chunks())
"""
    killed = subprocess.run([sys.executable, "-c", script, str(target)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 1
    (tmp_path / ".network[1].c.swp").touch()
    remove_unfinished(target)
    assert [path.name for path in tmp_path.iterdir()] == [".network[1].c.swp"]


def test_what_was_written_may_be_read_by_all_whom_the_umask_allows(tmp_path: Path) -> None:
    write_atomically(tmp_path / "a", "x")
    (tmp_path / "b").write_text("x")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_a_file_from_outside_may_be_too_large(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(bytes(100))
    assert read_at_most(path, 100) == bytes(100)
    with pytest.raises(N6Error, match="a.json: error N6-FILE-003: has 100 bytes, 1 more than the limit"):
        read_at_most(path, 99)
    with pytest.raises(N6Error, match="N6-FILE-002"):
        read_at_most(tmp_path / "none", 1)


POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 3772576\n"


@pytest.mark.parametrize(
    "text",
    [
        POINTER,
        POINTER.replace("\n", "\r\n"),
        POINTER.replace("oid", "ext-0-foo sha256:1234\noid"),
        POINTER.replace("git-lfs.github.com", "hawser.github.com"),
    ],
)
def test_a_file_that_git_lfs_has_not_downloaded_is_refused_with_the_command(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a model.tflite"
    path.write_bytes(text.encode())
    for read in (read_bytes, require_content, lambda path: list(read_in_chunks(path))):
        with pytest.raises(N6Error) as caught:
            read(path)
        assert str(caught.value) == (
            f"{path}: error N6-FILE-006: is a Git LFS pointer: the file of 3772576 bytes was not downloaded\n"
            f"  hint: run git -C {tmp_path} lfs pull --include='a model.tflite' (before it, once: git lfs install)"
        )


@pytest.mark.parametrize(
    "text", [POINTER[1:], POINTER.replace("size", "bytes"), POINTER + "\0", POINTER + " " * 1000, POINTER[:70]]
)
def test_text_that_only_resembles_a_pointer_is_read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(text)
    require_content(path)
    assert read_bytes(path) == text.encode()
