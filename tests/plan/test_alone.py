"""A step with only its inputs around it, as on a worker of a build farm."""

from __future__ import annotations

import pwd
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from n6build.engine.plan import Plan, plan_json
from n6build.engine.step import Step, canonical
from n6build.engine.step_process import MODULE, PIECES, main
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
    """The program that does it prints nothing; the output's folder need not exist."""
    command = [sys.executable, "-m", MODULE, written(c_array_step(MADE, "model.bin")), "build"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "model" in Path(MADE).read_text()


def test_a_worker_may_have_no_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sandbox may leave out the variable, and know no users."""

    def no_entry(_: int) -> None:
        raise KeyError

    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", no_entry)
    assert main(written(c_array_step(MADE, "model.bin")), "build") == 0
    assert Path.home() == Path("/nonexistent")


def test_what_a_step_consults_comes_in_pieces_and_has_to_stay_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    """Changes of a consulted file would be lost on a worker."""
    for place, data in (("build/board/nor.bin/00000", b"mo"), ("build/board/nor.bin/00001", b"del")):
        piece = Path(PIECES, place)
        piece.parent.mkdir(parents=True, exist_ok=True)
        piece.write_bytes(data)
    nor = "build/board/nor.bin"
    reads = replace(c_array_step(MADE, nor), state=("build/board",), consulted=(nor,))
    assert main(written(reads), "build") == 0
    assert "0x6d, 0x6f, 0x64, 0x65, 0x6c," in Path(MADE).read_text()
    writes = replace(reads, outputs=(nor,), sources=("model.bin",))
    assert main(written(writes), "build") == 2
    assert "the step changed build/board/nor.bin, which does not exist here" in capsys.readouterr().err


def test_an_error_is_said_and_told_by_the_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(written(c_array_step(MADE, "absent.bin")), "build") == 2
    assert "error N6-FILE-002: " in capsys.readouterr().err
    odd = replace(c_array_step(MADE, "model.bin"), function="n6build.steps.c_array:read_bytes")
    assert main(written(odd), "build") == 2
    assert "error N6-STEP-007: " in capsys.readouterr().err
