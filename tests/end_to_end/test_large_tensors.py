"""Inputs and outputs of a camera's size arrive whole over the console."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import one_op_models
import pytest
from one_op_models import Quantisation

from end_to_end.conftest import Project, make_project

SHAPE = (1, 137, 134, 3)
BYTES = int(np.prod(SHAPE))
PAD = 1
MODEL = """name: camera
file: camera.tflite
sha256: "{sha256}"
description: a border around a picture
made_by: {made_by}
network:
  input_type: int8
  output_type: int8
result: raw
vectors:
  inputs: inputs.npy
  expected: expected.npy
"""


@pytest.fixture(scope="module")
def camera(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Return a project with a model that pads 55,074 bytes to 56,712 bytes.

    It computes nothing, so every byte counts.
    """
    assert BYTES == 55_074
    project = make_project(tmp_path_factory.mktemp("large"))
    folder = project.root / "models" / "camera"
    folder.mkdir()
    border = [(0, 0), (PAD, PAD), (PAD, PAD), (0, 0)]
    tflite = one_op_models.pad(SHAPE, border, Quantisation(0.5, -3))
    pictures = np.random.default_rng(1).integers(-128, 128, (2, *SHAPE[1:]), np.int8)
    (folder / "camera.tflite").write_bytes(tflite)
    np.save(folder / "inputs.npy", pictures)
    np.save(folder / "expected.npy", np.pad(pictures, border, constant_values=-3))
    text = MODEL.format(sha256=hashlib.sha256(tflite).hexdigest(), made_by=Path(__file__).name)
    (folder / "model.yaml").write_text(text)
    return project


# In every run: tests/run/test_comparison.py.
@pytest.mark.slow
def test_outputs_of_any_length_are_compared_whole(camera: Project) -> None:
    assert "2 of 2 outputs equal" in camera.done("model=camera", "probe=virtual", "flash", "run").output


@pytest.mark.slow
def test_inputs_and_outputs_of_any_length_go_over_the_link(camera: Project, tmp_path: Path) -> None:
    folder = camera.root / "models" / "camera"
    np.save(tmp_path / "mine.npy", np.load(folder / "inputs.npy")[::-1])
    np.save(tmp_path / "right.npy", np.load(folder / "expected.npy")[::-1])
    given = (f"inputs={tmp_path / 'mine.npy'}", f"expected={tmp_path / 'right.npy'}")
    assert "2 of 2 outputs equal" in camera.done("model=camera", "probe=virtual", *given, "flash", "run").output
