"""A quantised ONNX model, from its file to the virtual board.

Its outputs are those of onnxruntime, bit for bit.
"""

from pathlib import Path

import numpy as np
import pytest
import qdq_models
from samples import sample

from end_to_end.conftest import Project

RUN = ("board=nucleo-n657", "backend=reference", "probe=virtual", "flash", "run")
YAMNET = "npu/yamnet-core-2.2/yamnet_1024_64x96_tl_qdq_int8.onnx"


def described(folder: Path, model: bytes, inputs: np.ndarray) -> Path:
    folder.mkdir()
    (folder / "net.onnx").write_bytes(model)
    np.save(folder / "inputs.npy", inputs)
    (folder / "model.yaml").write_text("name: net\nfile: net.onnx\nvectors: {inputs: inputs.npy}\n")
    return folder


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        pytest.param(qdq_models.classifier(3, 17), (3, 3, 19, 14), marks=pytest.mark.slow),
        (qdq_models.residual(1, "uint8"), (2, 3, 16, 12)),
        pytest.param(qdq_models.detector(2), (2, 3, 16, 24), marks=pytest.mark.slow),
    ],
    ids=["classifier", "inverted residuals, uint8", "detector"],
)
def test_its_outputs_are_those_of_onnxruntime(
    project: Project, tmp_path: Path, model: bytes, shape: tuple[int, ...]
) -> None:
    inputs = np.random.default_rng(0).normal(0, 2, shape).astype(np.float32)
    folder = described(tmp_path / "net", model, inputs)
    result = project.done(f"model={folder}", *RUN)
    assert f"{len(inputs)} of {len(inputs)} outputs equal the reference interpreter bit for bit" in result.output
    assert "Channels behind height and width" in result.output


@pytest.mark.slow
def test_yamnet_s_outputs_are_those_of_onnxruntime(project: Project, tmp_path: Path) -> None:
    inputs = np.random.default_rng(0).normal(0, 2, (2, 64, 96, 1)).astype(np.float32)
    folder = described(tmp_path / "net", sample(YAMNET).read_bytes(), inputs)
    result = project.done(f"model={folder}", *RUN)
    assert "2 of 2 outputs equal the reference interpreter bit for bit" in result.output
    assert "1 transposition left" in result.output
