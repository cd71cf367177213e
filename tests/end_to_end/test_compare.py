"""Target compare, with scons and with the command.

It finds the cause of a difference in a board's captured outputs, without board and compiler.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from end_to_end.conftest import BuiltOnce, Project

MODELS = Path(__file__).resolve().parents[2] / "models"


@pytest.fixture(scope="module")
def built(built_once: BuiltOnce, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a project that all tests share, because comparing changes nothing."""
    return built_once.copy(tmp_path_factory.mktemp("compare"), "model=keyword", "network")


def captured(project: Project, name: str, values: np.ndarray) -> str:
    values.tofile(project.root / name)
    return f"captured={name}"


def test_a_cause_is_named_and_written_down(built: Project) -> None:
    expected = np.load(MODELS / "keyword/expected.npy")
    wrong = captured(built, "out.bin", (expected.astype(int) + 128).astype(np.uint8))
    result = built.scons("compare", "model=keyword", wrong, PATH="").refused()
    assert "Cause uint8/int8 mix, the values are uint8, 128 off the model" in " ".join(result.output.split())
    assert "error N6-CAPTURE-006: 1 of 1 outputs are outside the tolerance" in result.output
    assert result.actions == ["Compare keyword.compared"]
    (output,) = json.loads((built.root / "build/compare/keyword/compare.json").read_text())["outputs"]
    assert (output["within"], output["how"], output["fits"][0]["near"]["max"]) == (False, "int8", 0.0)

    right = built.done("compare", "model=keyword", captured(built, "out.bin", expected), PATH="")
    assert "equal to the reference, 10 vectors" in right.output


def test_a_bare_model_gets_seeded_inputs_to_give_to_the_board(built: Project) -> None:
    shutil.copy(MODELS / "keyword/keyword.tflite", built.root / "mine.tflite")
    result = built.scons("compare", "model=mine.tflite", captured(built, "out.bin", np.zeros(24, np.int8))).refused()
    assert "2 vectors of inputs.npy, seeded random inputs, the same on every machine" in result.output
    assert "Cause never written, every byte is 0" in " ".join(result.output.split())
    assert np.load(built.root / "build/compare/mine/inputs.npy").shape == (2, 1, 49, 10, 1)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("compare",), "N6-CAPTURE-005: no captured outputs are named"),
        (
            ("compare", "run", "probe=virtual", "captured=out.bin"),
            "N6-CAPTURE-005: target compare does not go with other targets",
        ),
        (
            ("compare", "captured=out.bin", "model=keyword,anomaly"),
            "N6-CAPTURE-005: target compare is for a single model",
        ),
        (("build", "captured=out.bin"), "N6-OPTION-020: 'captured=out.bin' has no effect on build"),
        (("compare", "captured=nothere.bin"), "nothere.bin: error N6-CAPTURE-001: the file does not exist"),
        (("compare", "captured=out.bin", "inputs=nothere.npy"), "N6-OPTION-022: no file 'nothere.npy'"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_command_that_does(
    built: Project, words: tuple[str, ...], message: str
) -> None:
    (built.root / "out.bin").write_bytes(b"\0")
    assert message in built.scons(*words).refused().output
