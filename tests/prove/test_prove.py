"""`n6build prove` accepts a correct build and finds a wrong one."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from end_to_end.conftest import Project, Result, make_project
from n6build.__main__ import main

MODELS = "models/anomaly"
NETWORK = "build/nucleo-n657/anomaly/network"


BACKEND = "site_scons/n6build/compile/reference/backend.py"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


def prove(project: Project, *words: str) -> Result:
    """Run `n6build prove` with the library of the copied project."""
    # The test compares the project, which has its byte code from the copy.
    more = {"TMPDIR": str(project.home), "PYTHONDONTWRITEBYTECODE": "1"}
    return project.call(sys.executable, "-m", "n6build", "prove", *words, folder=None, **more)


def test_a_build_that_is_right_passes_and_nothing_is_left(project: Project) -> None:
    before = sorted(project.root.rglob("*"))
    result = prove(project, "network", "model=anomaly", "--only", f"{MODELS}/*", "--edits", "2", "--first", "2")
    assert result.status == 0, result.output
    assert re.search(r"Prove network model=anomaly, seed 1: \d+ files, \d+ outputs", result.output)
    assert re.search(rf"Refused {MODELS}/inputs\.npy, edit 2: removed, .*, 0 stale", result.output), result.output
    same = rf"Same {MODELS}/anomaly\.tflite, edit 3: byte .*: 1 steps, [1-9]\d* outputs differ, 0 stale"
    assert re.search(same, result.output), result.output
    assert "Proved 2 edits, 0 wrong" in result.output
    assert sorted(project.root.rglob("*")) == before
    assert not list(project.home.glob("n6build-prove-*"))


def test_a_file_that_nothing_watches_and_a_module_that_no_signature_covers_are_found(project: Project) -> None:
    """Two faults are planted in a step.

    It starts a program that reads a file, and has an import that the closure does not see.
    """
    (project.root / "models/notes.txt").write_text("notes\n")
    project.replace(
        BACKEND,
        '    if model.suffix == ".onnx":\n',
        "    import subprocess\n"
        '    notes = subprocess.run(["cat", "models/notes.txt"], capture_output=True, check=False).stdout\n'
        '    with call.outputs[0].open("ab") as file:\n        file.write(notes)\n'
        '    if model.suffix == ".onnx":\n',
    )
    with (project.root / BACKEND).open("a") as file:
        file.write('\n__import__("n6build.base." + "intel_hex")\n')
    words = ("--only", "models/notes.txt", "--edits", "1", "--first", "3")
    result = prove(project, "network", "model=anomaly", *words)
    assert result.status == 2, result.output
    assert "Wrong without an edit" in result.output
    lacks = "n6build.compile.reference.backend loads n6build.base.intel_hex, which is not in its signature"
    assert result.output.count(lacks) == 1
    line = r"Wrong models/notes\.txt:1, edit 3: .*: 0 steps, 0 outputs differ, 1 stale"
    assert re.search(line, result.output), result.output
    assert f"{NETWORK}/network.c is stale, of step {NETWORK}/network.c\n" in result.output
    assert re.search(r"a/project/models/notes\.txt\n.*\n@@ -1 .*\n-notes\n", result.output)
    assert "error N6-PROVE-002: the build is wrong: without an edit, edit 3\n" in result.output
    assert "--only models/notes.txt --client n6build --edits 1 --first N to repeat edit N" in result.output
    (kept,) = project.home.glob("n6build-prove-*")
    assert f"{kept}/project: error N6-PROVE-002" in result.output


@pytest.mark.slow
def test_scons_is_proved_as_well(project: Project) -> None:
    result = prove(
        project, "network", "model=anomaly", "--client", "scons", "--only", f"{MODELS}/*.tflite", "--edits", "1"
    )
    assert result.status == 0, result.output
    assert re.search(r"Same .*\.tflite, edit 1: byte .*: 1 steps, [1-9]\d* outputs differ, 0 stale", result.output)


def test_a_project_that_does_not_build_is_refused(project: Project) -> None:
    result = prove(project, "network", "model=nowhere")
    assert result.status == 2
    assert "error N6-PROVE-001: the project does not build before any edit: N6-MODEL-001" in result.output
    assert not list(project.home.glob("n6build-prove-*"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["flash"], "N6-OPTION-019: 'flash' cannot be proved"),
        (["build", "modle=keyword"], "N6-OPTION-001: unknown option 'modle'"),
        (["--edits", "x"], "N6-OPTION-019: argument --edits: 'x' is not a number"),
        (["--client", "make"], "N6-OPTION-019: argument --client: invalid choice: 'make'"),
    ],
    ids=" ".join,
)
def test_words_that_cannot_be_proved_are_refused(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prove", *words]) == 2
    assert f"error {message}" in capsys.readouterr().err
