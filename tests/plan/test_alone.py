"""A step done where nothing is but its inputs, as by a worker of a build farm."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from n6build.plan.alone import MODULE, main
from n6build.plan.plan import Plan, plan_json
from n6build.plan.step import Step, canonical
from n6build.steps.c_array import c_array_step

MADE = "build/made/model.c"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("model.bin").write_bytes(b"model")


def written(step: Step) -> str:
    Path("step.json").write_text(canonical(plan_json(Plan((step,)))))
    return "step.json"


def test_a_step_is_done_from_its_file() -> None:
    """Also as a program, which says nothing of its own; its output's folder need not be there."""
    command = [sys.executable, "-m", MODULE, written(c_array_step(MADE, "model.bin")), "build"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "model" in Path(MADE).read_text()


def test_an_error_is_said_and_told_by_the_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(written(c_array_step(MADE, "absent.bin")), "build") == 2
    assert "error N6-FILE-002: " in capsys.readouterr().err
    odd = replace(c_array_step(MADE, "model.bin"), function="n6build.steps.c_array:read_bytes")
    assert main(written(odd), "build") == 2
    assert "error N6-STEP-007: " in capsys.readouterr().err
