"""Host projects: copies of the examples, and the tools that build them.

n6build is in their PATH.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import tflite
from called import shared_caches

ROOT = Path(__file__).resolve().parents[2]
VENV = Path(sys.prefix)
# tools/setup.py installs both versions of CMake.
NEWEST, OLDEST = VENV / "bin/cmake", VENV / "oldest/cmake/cmake/data/bin/cmake"
_STEP = re.compile(
    r"^ +(Network|Plan|Compile|Archive|Library|Link|Header|Image|Place|Weights|Vectors|Manifest|Sizes|Check) (\S+)$",
    re.M,
)


def started(command: Sequence[str | Path], folder: Path, environment: Mapping[str, str]) -> subprocess.Popen[str]:
    """Start a command in its own session, with its errors in the output."""
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


class Host:
    """A copy of an example.

    Its folder's name has a space and a letter beyond ASCII.

    Attributes:
        root: The copy's folder.
        command: The script that is `n6build` in PATH; it uses the library in argument `installed`.
        path: Folders of PATH.
    """

    def __init__(self, folder: Path, example: str, installed: Path = ROOT / "site_scons") -> None:
        self.root = folder / "my pröject"
        shutil.copytree(ROOT / "examples" / example, self.root, ignore=shutil.ignore_patterns("build"))
        shutil.copytree(ROOT / "models/keyword", self.root / "own_model", ignore=shutil.ignore_patterns("*.py"))
        self.command = folder / "bin/n6build"
        self.command.parent.mkdir()
        self.command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m n6build "$@"\n')
        self.command.chmod(0o755)
        # PATH is that of a shell after `source .venv/bin/activate`.
        self.path = [str(folder / "bin"), str(VENV / "bin"), *os.environ["PATH"].split(os.pathsep)]
        self.environment = {"HOME": str(folder), **shared_caches(), "PYTHONPATH": str(installed)}

    def cmake_package(self) -> str:
        """Return the argument of CMake that names n6build's package."""
        return f"-Dn6build_DIR={self.call('n6build', '--cmake-dir').strip()}"

    def start(self, *command: str | Path, **environment: str) -> subprocess.Popen[str]:
        """Start a command in its own session, so that a test can kill its processes."""
        return started(command, self.root, {"PATH": os.pathsep.join(self.path), **self.environment, **environment})

    def status(self, *command: str | Path, **environment: str) -> tuple[int, str]:
        process = self.start(*command, **environment)
        try:
            output, _ = process.communicate(timeout=600)
        finally:
            process.kill()
        return process.returncode, output

    def call(self, *command: str | Path, **environment: str) -> str:
        status, output = self.status(*command, **environment)
        assert status == 0, output
        return output

    def refused(self, *command: str | Path, **environment: str) -> str:
        """Return the output of a command that fails without a traceback."""
        status, output = self.status(*command, **environment)
        assert status not in (0, None), output
        assert "Traceback" not in output
        return output

    def replace(self, file: str, old: str, new: str) -> None:
        path = self.root / file
        text = path.read_text()
        assert old in text, f"{file} has no {old!r}"
        path.write_text(text.replace(old, new))


def steps_in(output: str) -> list[str]:
    """Return 'Verb file' for each step that n6build did in a build, sorted."""
    return sorted(f"{verb} {Path(path).name}" for verb, path in _STEP.findall(output))


def digests_of(folder: Path) -> dict[str, str]:
    """Return the digests of n6build's files, without its records."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".n6build" not in path.parts and "virtual_board" not in path.parts and path.suffix != ".d"
    }


def with_another_weight(model: bytes, change: int = 1, count: int = 1) -> bytes:
    """Return a TFLite file whose largest buffer ends with other bytes.

    Args:
        change: Bits of each byte that change.
        count: Number of bytes that change.
    """
    file = tflite.Model.GetRootAs(model, 0)
    buffers = (file.Buffers(index) for index in range(file.BuffersLength()))
    largest = max(buffers, key=lambda buffer: buffer.DataLength())
    data = bytearray(model)
    end = model.index(largest.DataAsNumpy().tobytes()) + largest.DataLength()
    for place in range(end - count, end):
        data[place] ^= change
    return bytes(data)


def move_older_model_over(model: Path) -> None:
    """Replace a model by an older one with another weight, as `mv` or `cp -p` do."""
    other = model.with_name("other.tflite")
    other.write_bytes(with_another_weight(model.read_bytes()))
    os.utime(other, (1_000_000_000, 1_000_000_000))
    other.rename(model)


def times_of(folder: Path) -> dict[str, int]:
    """Return when each file was written, without n6build's records."""
    found = (path for path in folder.rglob("*") if path.is_file() and ".n6build" not in path.parts)
    return {str(path): path.stat().st_mtime_ns for path in found}


both_cmakes = pytest.mark.parametrize("cmake", [NEWEST, OLDEST], ids=["newest", "oldest"])
