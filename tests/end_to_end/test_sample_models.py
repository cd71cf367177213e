"""Models of other people on the virtual board, each equal to its reference.

They are those of tests/samples.py that were refused before: streaming, with constants as outputs, with
channels without effect, with float32 between and behind their quantised operators.
"""

from __future__ import annotations

import re
from pathlib import Path

import float_islands
import numpy as np
import pytest
from samples import sample

from end_to_end.conftest import Project

BITS = "outputs equal the reference interpreter bit for bit"
# onnxruntime approximates the sigmoid behind the last quantised operator.
ULPS = "outputs equal the reference interpreter, but for float32 values at most 1 ulp of the largest off"
MODELS = {
    "ssd_mobilenet_v2_fpnlite_035_256_int8.tflite": BITS,
    "deeplab_v3_mobilenetv2_05_16_320_fft_qdq_int8.onnx": BITS,
    "stft_tcnn_medium_sigmoid_nonorm_qdq_pc_ff_257x40_int8.onnx": ULPS,
    "mobilefacenet_int8_faces.onnx": BITS,
    "mobilenet_v2_224_int8.onnx": BITS,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_others_equals_its_reference(project: Project, name: str) -> None:
    model = sample(f"models/{name}")
    result = project.done(f"model={model}", "probe=virtual", "runs=1", "flash", "run")
    assert f"Result 1 of 1 {MODELS[name]}" in result.output, result.output


@pytest.mark.slow
def test_layers_in_float32_are_named_and_compared(project: Project, tmp_path: Path) -> None:
    model = tmp_path / "island.onnx"
    model.write_bytes(float_islands.CLOSE["conv of int8 without a scale"][1])
    result = project.done(f"model={model}", "probe=virtual", "runs=1", "flash", "run")
    assert re.search(r"Float32\s+FloatConv_\d+", result.output), result.output
    assert re.search(r"float32 values at most \d+ ulp of the largest off", result.output), result.output


@pytest.mark.slow
def test_a_wake_word_runs_frame_by_frame(project: Project, tmp_path: Path) -> None:
    inputs = tmp_path / "inputs.npy"
    np.save(inputs, np.random.default_rng(37).integers(-128, 128, (24, 1, 3, 40), np.int8))
    given = (f"model={sample('models/okay_nabu.tflite')}", f"inputs={inputs}")
    assert f"24 of 24 {BITS}" in project.done(*given, "probe=virtual", "flash", "run").output
