"""Files that a call of scons writes, and its errors if it cannot.

The tests cover dry runs, cleaning, SCons databases and full disks.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from called import call

from end_to_end.conftest import Project, Result, make_project

NETWORK = ("model=anomaly", "network")
BOARD = ("model=anomaly", "probe=virtual", "flash", "run")


def tree(folder: Path) -> dict[str, tuple[str, int]]:
    """Return the digest and time of each file and folder, without Python's cache."""
    return {
        str(path.relative_to(folder)): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        if path.is_file()
        else ("", 0)
        for path in folder.rglob("*")
        if "__pycache__" not in path.parts
    }


def assert_told(result: Result, *texts: str) -> None:
    assert "Traceback" not in result.output
    assert 'File "' not in result.output
    for text in texts:
        assert text in result.output


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = make_project(tmp_path_factory.mktemp("built"))
    project.done(*NETWORK)
    return project


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(("-n", *BOARD), id="dry run", marks=pytest.mark.slow),
        pytest.param(("-q", *NETWORK), id="question"),
        pytest.param(("-n", "model=nowhere"), id="error", marks=pytest.mark.slow),
        pytest.param(("-h",), id="help", marks=pytest.mark.slow),
        pytest.param(("-n", "-c", *BOARD), id="dry clean", marks=pytest.mark.slow),
        pytest.param(("boards",), id="list", marks=pytest.mark.slow),
    ],
)
def test_a_call_that_builds_nothing_writes_nothing(project: Project, arguments: tuple[str, ...]) -> None:
    before = tree(project.root)
    project.scons(*arguments)
    assert tree(project.root) == before


@pytest.mark.slow
def test_nor_does_it_after_a_build_with_a_damaged_ledger(built: Project) -> None:
    with (built.root / "build/.n6build/ledger.jsonl").open("ab") as file:
        file.write(b'{"cut')
    before = tree(built.root)
    built.scons("-n", *BOARD)
    assert tree(built.root) == before


@pytest.mark.slow
@pytest.mark.parametrize("garbage", [b"\x80\x04garbage", b"", b"cposix\nsystem\n(S'touch PWNED'\ntR."], ids=repr)
@pytest.mark.parametrize("name", [".sconsign.dblite", ".sconsign_sha256.dblite", ".sconsign_sha256", ".sconsign"])
def test_a_database_of_scons_is_neither_read_nor_written(built: Project, name: str, garbage: bytes) -> None:
    """SCons would execute a pickle, and end with a traceback for some kinds of damage."""
    database = built.root / name
    database.write_bytes(garbage)
    result = built.scons(*NETWORK, "front=0")
    assert (result.status, result.actions) == (0, []), result.output
    assert_told(result, "`network' is up to date")
    assert database.read_bytes() == garbage
    assert not (built.root / "PWNED").exists()
    database.unlink()


# In every run: tests/proof/test_file_times.py[years ago, the library].
@pytest.mark.slow
def test_an_edit_with_an_old_time_is_noticed(built: Project) -> None:
    """SCons would trust a file older than two days, with any content."""
    model = built.root / "models/keyword/model.yaml"
    other = built.root / "models/keyword/keyword.tflite"
    times = {path: path.stat().st_mtime_ns - 10 * 86_400 * 10**9 for path in (model, other)}
    for path, time in times.items():
        os.utime(path, ns=(time, time))
    assert built.scons("model=keyword", "network").actions == ["Network keyword/network/network.c"]
    built.change_one_weight("keyword")
    for path, time in times.items():
        os.utime(path, ns=(time, time))
    assert built.scons("model=keyword", "network").actions == ["Network keyword/network/network.c"]


@pytest.mark.slow
def test_cleaning_leaves_what_it_names(project: Project) -> None:
    assert project.scons(*NETWORK).status == 0
    assert project.scons("model=keyword", "network").status == 0
    assert project.scons("model=nowhere").status == 2
    first = project.scons("-c", *BOARD)
    assert_told(first, "Kept build/.n6build, records", "Kept build/nucleo-n657, of other builds")
    assert [path.name for path in (project.root / "build/nucleo-n657").iterdir()] == ["keyword"]
    last = project.scons("-c", "model=keyword")
    left = sorted(path.name for path in (project.root / "build").iterdir())
    assert left == [".n6build"]
    assert [line.split()[:2] for line in last.output.splitlines() if "Kept" in line] == [["Kept", "build/.n6build,"]]
    assert not list(project.root.glob(".scons*"))


@pytest.mark.parametrize("lines", [pytest.param(0, marks=pytest.mark.slow), 1])
@pytest.mark.parametrize("command", ["scons", "n6build"])
def test_nobody_reads_what_is_printed(built: Project, command: str, lines: int) -> None:
    module = ["SCons", "-Q", "model=anomaly"] if command == "scons" else ["n6build"]
    shutil.rmtree(built.root / "build/nucleo-n657/anomaly", ignore_errors=True)
    words = [sys.executable, "-m", *module, *(["network"] if command == "scons" else ["network", "model=anomaly"])]
    environment = {"PATH": os.environ["PATH"], **built.environment}
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(words, cwd=built.root, env=environment, text=True, **pipe) as process:  # type: ignore[call-overload]
        for _ in range(lines):
            process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
    assert said == ""
    assert process.returncode == (0 if command == "scons" else 141)


def test_nothing_to_print_to(built: Project) -> None:
    shutil.rmtree(built.root / "build/nucleo-n657/anomaly", ignore_errors=True)
    scons = f"exec {sys.executable} -m SCons -Q model=anomaly network"
    for to, told in ((">&-", ""), (">/dev/full", "error N6-FILE-001: cannot write: No space left on device")):
        result = call("sh", "-c", f"{scons} {to}", cwd=built.root, **built.environment)
        assert "Traceback" not in result.stderr
        assert told in result.stderr
        shutil.rmtree(built.root / "build/nucleo-n657/anomaly")


@contextmanager
def mounted(folder: Path, *options: str) -> Iterator[None]:
    done = subprocess.run(["mount", *options, str(folder)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.slow
@pytest.mark.parametrize("lefts", [(4, 200), pytest.param((0, 12, 40, 120, 330, 600), marks=pytest.mark.slow)])
def test_a_full_disk(tmp_path: Path, lefts: tuple[int, ...]) -> None:
    """The space ends at several places, also while an error is written.

    Args:
        lefts: KiB that are free.
    """
    folder = tmp_path / "disk"
    folder.mkdir()
    with mounted(folder, "-t", "tmpfs", "-o", "size=24m", "none"):
        project = make_project(folder)
        assert project.scons("boards").status == 0
        space = os.statvfs(folder)
        free = space.f_bavail * space.f_frsize
        told = set()
        for left in lefts:
            (folder / "filler").write_bytes(bytes(free - (left << 10)))
            for arguments in (NETWORK, ("model=nowhere",)):
                result = project.scons(*arguments).refused()
                assert_told(result, "error N6-")
                told |= {line.split(":")[0].rpartition("/")[2] for line in result.output.splitlines() if "-001" in line}
            (folder / "filler").unlink()
            shutil.rmtree(project.root / "build", ignore_errors=True)
        assert len(told) >= 2, told


@pytest.mark.slow
def test_a_read_only_checkout(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    with mounted(project.root, "--bind", str(project.root)):
        subprocess.run(["mount", "-o", "remount,bind,ro", str(project.root)], check=True)
        assert project.scons("-n", *NETWORK).status == 0
        assert project.scons("boards").status == 0
        for arguments in (NETWORK, ("-c", *NETWORK), ("model=nowhere",)):
            result = project.scons(*arguments).refused()
            assert_told(result, "error N6-FILE-001: cannot write: Read-only file system")
