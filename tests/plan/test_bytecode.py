"""Code that runs is the code that is signed, also where the interpreter's own cache would have it otherwise."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# Signs the code of a module, then runs it; 'early' imports it first.
PROGRAM = """
import sys
from pathlib import Path
from n6build.plan.closure import Code
if "early" in sys.argv:
    import ours.value
Code({"ours": Path("ours")}).digest_of("ours.value")
import ours.value
print(ours.value.X)
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    library = Path(__file__).resolve().parents[2] / "site_scons"
    environment = {"PYTHONPATH": f"{library}:{folder}"}
    command = [sys.executable, "-c", PROGRAM, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def edited(tmp_path: Path) -> Path:
    """A module that has run once, and was edited since under the same time, to the same size."""
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours/__init__.py").write_text("")
    source = tmp_path / "ours/value.py"
    source.write_text("X = 1\n")
    assert run(tmp_path).stdout == "1\n"
    before = source.stat()
    source.write_text("X = 2\n")
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
    return tmp_path


def test_code_that_was_edited_under_an_unchanged_time_runs_as_it_is(edited: Path) -> None:
    assert run(edited).stdout == "2\n"


def test_code_that_ran_before_it_was_looked_at_is_an_error_once(edited: Path) -> None:
    result = run(edited, "early")
    assert "N6-STEP-016: ours.value was edited under an unchanged time" in result.stderr
    assert run(edited, "early").stdout == "2\n"


def test_compiled_code_that_was_copied_with_old_times_is_kept(edited: Path) -> None:
    run(edited)
    (compiled,) = (edited / "ours/__pycache__").glob("value.*.pyc")
    os.utime(compiled, ns=(0, 0))
    content = compiled.read_bytes()
    assert run(edited, "early").stdout == "2\n"
    assert compiled.read_bytes() == content
    assert compiled.stat().st_mtime > 0


def test_compiled_code_that_is_damaged_is_removed(edited: Path) -> None:
    run(edited)
    (compiled,) = (edited / "ours/__pycache__").glob("value.*.pyc")
    compiled.write_bytes(compiled.read_bytes()[:20])
    os.utime(compiled, ns=(0, 0))
    assert run(edited).stdout == "2\n"
