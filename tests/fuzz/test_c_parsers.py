"""Firmware parsers on the host: no input makes them access other memory."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from fuzz.c_parsers import C_PARSERS, CParser, built, tried

INPUTS = 20_000


@pytest.mark.parametrize("parser", C_PARSERS, ids=lambda each: each.program)
def test_damaged_input_is_refused_without_touching_anything_else(parser: CParser, tmp_path: Path) -> None:
    program = built(parser, tmp_path)
    found = tried(parser, program, INPUTS, 1)
    assert not found.said
    # Enough inputs must be understood, or the others would not reach the code behind the first checks.
    assert found.reached > INPUTS // 100


@pytest.mark.skipif(shutil.which("clang") is None, reason="Clang is not installed")
@pytest.mark.parametrize("parser", C_PARSERS, ids=lambda each: each.program)
def test_coverage_leads_the_choices_of_the_same_programs(parser: CParser, tmp_path: Path) -> None:
    program = built(parser, tmp_path, guided=True)
    (tmp_path / "seed").write_bytes(parser.seed())
    environment = {**os.environ, "N6_SEED": str(tmp_path / "seed"), "ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run([program, "-runs=2000"], env=environment, capture_output=True, text=True, check=False)
    assert "Done 2000 runs" in done.stderr, done.stderr


def test_the_sanitizer_sees_a_loader_that_believes_what_a_pool_is_called(tmp_path: Path) -> None:
    """A copied pool labelled as activations is also compared with its weights.

    The old loader, which the test restores, left this comparison out.
    """
    parser = next(each for each in C_PARSERS if each.program == "reloc")
    program = built(parser, tmp_path, {"return type == N6_RELOC_POOL_COPY ||": "return"})
    assert "in place_pools" in tried(parser, program, 300_000, 1).said
