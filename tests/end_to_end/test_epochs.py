"""Networks of ST's compiler, epoch by epoch.

Each epoch gets the reference tensors as inputs, and its output is compared.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from n6build.compile.artifacts.network_c import read_network_c
from numpy.typing import NDArray
from samples import sample, sample_core

from end_to_end.conftest import Project, Result, st_core

DETECTION = "projects/STM32N6-GettingStarted-ObjectDetection/Model"
TREES = {
    "reid": "npu/reid-mobilenetv2-core-3.0",
    "yamnet": "npu/yamnet-core-2.2",
    "pose": "npu/pose-movenet-core-2.1",
    "yolox": f"{DETECTION}/STM32N6570-DK",
}
REFERENCES = {
    "reid": "mobilenetv2_a100_256_128_fft_int8.tflite",
    "yamnet": "yamnet_1024_64x96_tl_qdq_int8.onnx",
    "pose": "st_movenet_lightning_heatmaps_192_int8_pc.tflite",
    "yolox": "st_yolo_x_nano_480_1.0_0.25_3_st_int8.tflite",
}
BOARDS = {"reid": "nucleo-n657", "yamnet": "stm32n6570-dk", "pose": "stm32n6570-dk", "yolox": "stm32n6570-dk"}
RELEASES = {"reid": "3.0", "yamnet": "2.2", "pose": "2.1", "yolox": "2.1"}
# Sides of the pictures of the other networks.
SIDES = {"pose": 192, "yolox": 480}
SMOOTHINGS = 2


def noise(network: str) -> np.ndarray:
    """Return two inputs; the figures of the facts were measured with the first one."""
    if network == "yamnet":
        return np.random.default_rng(1).integers(-128, 128, (2, 64, 96, 1)).astype(np.int8)
    lines, columns = (SIDES[network],) * 2 if network in SIDES else (256, 128)
    pixels = np.random.default_rng(3).integers(0, 256, (1, lines, columns, 3)).astype(np.int64)
    for _ in range(SMOOTHINGS):
        pixels = (pixels + np.roll(pixels, 1, 1) + np.roll(pixels, 1, 2) + np.roll(pixels, 2, 1)) // 4
    return np.concatenate([pixels, 255 - pixels]).astype(np.uint8)


def described(project: Project, network: str, tolerance: str = "", *, reference: bool = True) -> Path:
    folder = project.root / "models" / network
    shutil.copytree(sample(TREES[network]), folder)
    folder.chmod(0o755)
    for file in folder.iterdir():
        file.chmod(0o644)
    if network == "yolox":
        shutil.copyfile(sample(f"{DETECTION}/{REFERENCES[network]}"), folder / REFERENCES[network])
    np.save(folder / "inputs.npy", noise(network))
    text = f"name: {network}\nnetwork: {{folder: .}}\nvectors: {{inputs: inputs.npy}}\n"
    text += f"reference: {{model: {REFERENCES[network]}}}\n" if reference else ""
    text += f"tolerance: {{epoch: {tolerance}}}\n" if tolerance else ""
    (folder / "model.yaml").write_text(text)
    return folder


def run(project: Project, network: str, *arguments: str) -> Result:
    return project.scons(
        f"board={BOARDS[network]}",
        f"model={network}",
        "probe=virtual",
        "flash",
        "run",
        "epochs=1",
        *arguments,
        **st_core(sample_core(RELEASES[network])),
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("network", "buffers", "elements", "equal", "within_1", "most"),
    [
        ("reid", 52, 4_156_416 + 1280, 0.982, 0.9992, 6),
        pytest.param("yamnet", 38, 704_532, 0.9919, 0.9994, 10, marks=pytest.mark.slow),
        pytest.param("pose", 76, 5_956_992, 0.98, 0.9998, 5, marks=pytest.mark.slow),
        pytest.param("yolox", 280, 30_191_400, 0.995, 0.9999, 9, marks=pytest.mark.slow),
    ],
)
def test_every_epoch_of_a_real_network_is_as_near_as_the_facts_say(
    network: str, buffers: int, elements: int, equal: float, within_1: float, most: int, project: Project
) -> None:
    described(project, network, "{equal: 0.7, within_1: 0.94}")
    result = run(project, network).done()
    assert "Finding" not in result.output
    (found,) = json.loads((project.root / f"build/{BOARDS[network]}/{network}/epochs.json").read_text())["networks"]
    epochs = found["epochs"]
    assert len(epochs) == buffers
    assert sum(each["elements"] for each in epochs) == elements
    assert sum(each["equal"] for each in epochs) >= equal * elements
    assert sum(each["within_1"] for each in epochs) >= within_1 * elements
    assert max(each["max"] for each in epochs) <= most
    assert (
        f"{buffers} of {buffers + len(found['not_compared'])} buffers compared, {elements:,} elements" in result.output
    )


def with_other_weights(folder: Path, change: Callable[[NDArray[np.int8]], NDArray[np.int8]]) -> None:
    """Change the weights of epoch 23.

    They are found by the buffer that it makes, which node Conv2D_105 reads.
    """
    source = read_network_c(folder / "reid.c")
    weights = next(each for each in source.params if each.name == "Conv2D_100_weights")
    pool = next(each for each in source.pools if each.fname == weights.pool)
    assert weights.base is not None
    first = weights.base - pool.address + weights.offset_start
    here = slice(first, first + weights.offset_end - weights.offset_start)
    (file,) = folder.glob("*xSPI2*")
    data = np.frombuffer(file.read_bytes(), np.int8).copy()
    data[here] = change(data[here])
    file.write_bytes(data.tobytes())


@pytest.mark.slow
def test_a_network_with_a_wrong_weight_is_wrong_from_the_epoch_on_that_has_it(project: Project) -> None:
    with_other_weights(described(project, "reid", "{equal: 0.7, within_1: 0.94}"), lambda weights: weights // 2)
    result = run(project, "reid").refused()
    assert "error N6-RUN-011: 1 of 52 epochs are outside their tolerance, epoch 23 first" in result.output
    assert "reid: Conv2D_105_zero_off_out_199" in result.output
    assert "its inputs were right" in result.output


@pytest.mark.slow
def test_a_good_network_passes_by_the_bounds_of_its_constants(project: Project) -> None:
    folder = described(project, "reid")
    result = run(project, "reid").done()
    (found,) = json.loads((project.root / f"build/{BOARDS['reid']}/reid/epochs.json").read_text())["networks"]
    assert all(each["furthest"] is not None and each["why"] == "" for each in found["epochs"])
    assert found["contradictions"] == []
    # The last bit of one of 24,576 weights changes too few results to be seen in them.
    with_other_weights(folder, lambda weights: np.concatenate([weights[:1] ^ 1, weights[1:]]))
    result = run(project, "reid").refused()
    assert "1 epoch has constants that do not follow from mobilenetv2_a100" in result.output
    assert "epoch 23 first: 1 kernel value is not among those of the model" in result.output
    assert "N6-RUN-014" in result.output


@pytest.mark.slow
def test_by_default_the_tolerance_is_that_of_the_facts(project: Project) -> None:
    described(project, "yamnet")
    result = run(project, "yamnet").refused()
    assert "4 of 38 epochs are outside their tolerance, epoch 23 first: 97.57 % equal (98 wanted)" in result.output
    assert "furthest off is epoch 35" in result.output
    # The partial sums that epoch 23 reads are its own.
    assert "its inputs were right" in result.output


def test_without_a_reference_model_nothing_is_built(project: Project) -> None:
    (described(project, "reid", reference=False) / REFERENCES["reid"]).unlink()
    result = run(project, "reid").refused()
    assert "error N6-OPTION-018: its model mobilenetv2_a100" in result.output
    assert "hint: set reference.model in model.yaml" in result.output
    assert result.actions == []
