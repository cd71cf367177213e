"""bring_up compiles in another project: with two generated headers, nothing else of ours, and no warning."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from firmware_build import CPU, WARNINGS, board_headers, bring_up, compiler


@pytest.mark.parametrize("optimisation", ["-O0", "-Os", "-O2"])
@pytest.mark.parametrize("source", bring_up(), ids=lambda source: source.name)
def test_compiles_alone_without_a_warning(tmp_path: Path, source: Path, optimisation: str) -> None:
    copy = tmp_path / "theirs"
    copy.mkdir()
    for file in source.parent.glob("*.[ch]"):
        (copy / file.name).write_bytes(file.read_bytes())
    include = board_headers(tmp_path / "include")
    command = [compiler(), "-std=c11", optimisation, *CPU, *WARNINGS, f"-I{include}", "-c", source.name, "-o", "out.o"]
    result = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
