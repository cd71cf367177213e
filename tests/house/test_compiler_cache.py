"""ccache gives the tests the same objects as the compiler.

This also holds for a header that appears in front of another one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from compiler_cache import COMPILER, real_compiler

pytestmark = pytest.mark.skipif(shutil.which("ccache") is None, reason="ccache is not installed")


def compiled(folder: Path, compiler: str) -> bytes:
    words = [compiler, "-Os", "-MMD", "-Ifirst", "-Isecond", "-c", "source.c", "-o", "source.o"]
    subprocess.run(words, cwd=folder, check=True)
    return (folder / "source.o").read_bytes()


def test_a_header_that_appears_or_changes_is_compiled(tmp_path: Path) -> None:
    launched, real = shutil.which(COMPILER), real_compiler()
    assert launched is not None
    assert real is not None
    assert launched != real
    for name in ("first", "second", "second/below"):
        (tmp_path / name).mkdir()
    (tmp_path / "source.c").write_text('#include "below/value.h"\nint value(void) { return VALUE; }\n')

    def write(name: str, value: int) -> None:
        path = tmp_path / name / "below/value.h"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#define VALUE {value}\n")
        # ccache distrusts a header that is as new as its object.
        os.utime(path, (1, 1))

    for number, name in enumerate(("second", "second", "first", "first")):
        write(name, number)
        ours = [compiled(tmp_path, launched), compiled(tmp_path, launched)]
        assert ours == 2 * [compiled(tmp_path, real)], name


def test_the_second_time_nothing_is_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launched = shutil.which(COMPILER)
    assert launched is not None
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    # The folder's name in the source makes it new to the cache.
    (tmp_path / "source.c").write_text(f'int value(void) {{ return sizeof "{tmp_path}"; }}\n')
    os.utime(tmp_path / "source.c", (1, 1))
    log = tmp_path / "log"
    monkeypatch.setenv("CCACHE_LOGFILE", str(log))
    compiled(tmp_path, launched)
    log.unlink()
    compiled(tmp_path, launched)
    assert "Result: direct_cache_hit" in log.read_text()
