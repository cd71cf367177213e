"""A network of n6build's blobs on the virtual board.

It is compiled without ST's tool and started by n6build's runtime.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from samples import sample

from end_to_end.conftest import make_project, st_core


def test_a_model_becomes_blobs_that_run_on_the_virtual_board(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    arguments = ("backend=neural_art", "model=keyword", "probe=virtual", "flash", "run")
    result = project.done(*arguments, "report")
    assert "depthwise 3x3: seen</td>" in (project.root / "build/nucleo-n657/keyword/report.html").read_text()
    # The warning is printed twice.
    assert result.output.count("not run on silicon") >= 2
    assert "On CPU operator 11 (SOFTMAX), no such operator was seen on the NPU" in result.output
    assert "Grades 11 seen, 2 smaller" in result.output
    built = project.root / "build/nucleo-n657/keyword"
    figures = json.loads((built / "network/network_npu.json").read_text())
    assert (len(figures["epochs"]), figures["ran_on_silicon"]) == (13, False)
    # The board reports the same values for each epoch as the compiler.
    run = json.loads((built / "run.json").read_text())
    epochs = run["networks"][0]["npu_epochs"]
    assert [epoch["label"] for epoch in epochs] == [epoch["epoch"] for epoch in figures["epochs"]]
    ran = [sum(unit["macs"] for unit in epoch["units"]) for epoch in epochs]
    assert ran == [epoch["macs"] for epoch in figures["epochs"]]
    assert result.output.count("cosine 0.99") >= 10 or "10 of 10 outputs are as expected of the chip" in result.output
    # A second call only runs the network.
    assert project.scons(*arguments[:3], "build").actions == []
    # A blob that differs from the proved one stops the build before anything is flashed.
    header = built / "network/network_ecblobs.h"
    text = header.read_text()
    place = text.index("UL", len(text) // 2) - 1
    header.write_text(text[:place] + ("0" if text[place] != "0" else "1") + text[place + 1 :])
    damaged = project.scons(*arguments[:3], "flash")
    if damaged.status == 0:
        # The build compiled it again instead.
        assert header.read_text() == text
    else:
        assert "N6-NPU-016" in damaged.output


@pytest.mark.slow
@pytest.mark.parametrize("model", ["miniresnet", "anomaly"])
def test_other_models_run_too(model: str, tmp_path: Path) -> None:
    project = make_project(tmp_path)
    result = project.done("backend=neural_art", f"model={model}", "probe=virtual", "flash", "run")
    assert "10 of 10 outputs are as expected of the chip" in result.output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "inputs", "cosine", "on_cpu"),
    [
        # Noise is no sound for YAMNet, whose classes then have no meaning: the tolerance is that of the free run.
        (
            "npu/yamnet-core-2.2/yamnet_1024_64x96_tl_qdq_int8.onnx",
            np.random.default_rng(1).normal(0, 1.5, (2, 64, 96, 1)).astype(np.float32),
            0.8,
            "32 (Softmax), no such operator was seen on the NPU",
        ),
        # The network for re-identification gives 512 numbers. Its layers between blobs that are too imprecise for the
        # NPU are on the CPU.
        (
            "npu/reid-mobilenetv2-core-3.0/mobilenetv2_a100_256_128_fft_int8.tflite",
            np.random.default_rng(1).integers(0, 256, (2, 256, 128, 3), dtype=np.uint8),
            0.99,
            "0 (QUANTIZE)",
        ),
    ],
    ids=["YAMNet of ONNX", "MobileNetV2"],
)
def test_a_model_of_others_runs_on_noise(
    file: str, inputs: np.ndarray, cosine: float, on_cpu: str, tmp_path: Path
) -> None:
    project = make_project(tmp_path)
    folder = project.root / "models" / "net"
    folder.mkdir()
    model = f"net{Path(file).suffix}"
    (folder / model).write_bytes(sample(file).read_bytes())
    np.save(folder / "inputs.npy", inputs)
    (folder / "model.yaml").write_text(
        f"name: net\nfile: {model}\nvectors: {{inputs: inputs.npy}}\ntolerance: {{cosine: {cosine}}}\n"
    )
    result = project.done("backend=neural_art", "model=net", "probe=virtual", "flash", "run")
    assert f"On CPU operator {on_cpu}" in result.output
    assert "2 of 2 outputs are as expected of the chip" in result.output


@pytest.mark.slow
def test_st_s_runtime_runs_the_same_blobs(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    result = project.done(
        "backend=neural_art", "model=keyword", "probe=virtual", "flash", "run", **st_core(sample("core/3.0"))
    )
    assert "10 of 10 outputs are as expected of the chip" in result.output
    header = project.root / "build/nucleo-n657/keyword/network/network_ecblobs.h"
    built = header.read_bytes()
    assert project.scons("backend=neural_art", "model=keyword", "network").status == 0
    assert header.read_bytes() == built
