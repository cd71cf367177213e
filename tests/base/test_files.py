"""A file is written whole or not at all."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from n6build.base.errors import N6Error
from n6build.base.files import read_at_most, remove_unfinished, write_atomically


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
