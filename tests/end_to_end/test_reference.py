"""Runs without expected outputs in model.yaml.

They are compared with the reference interpreter if it is installed.
"""

from __future__ import annotations

import json
import shutil
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest
from samples import sample

from end_to_end.conftest import EQUAL, Project, st_core

REID = "npu/reid-mobilenetv2-core-3.0"
MODEL = "mobilenetv2_a100_256_128_fft_int8.tflite"
VIRTUAL = ("probe=virtual", "flash", "run")
DESCRIPTION = f"""name: reid
network: {{folder: .}}
reference: {{model: {MODEL}}}
vectors: {{inputs: inputs.npy}}
"""


def pictures(count: int, seed: int = 3) -> np.ndarray:
    """Return pictures of smoothed noise."""
    noise = np.random.default_rng(seed).integers(0, 256, (count, 256, 128, 3)).astype(np.int64)
    for _ in range(2):
        noise = (noise + np.roll(noise, 1, 1) + np.roll(noise, 1, 2) + np.roll(noise, 2, 1)) // 4
    return noise.astype(np.uint8)


@pytest.fixture
def reid(project: Project) -> Path:
    """Write a described network of ST's compiler into the project."""
    folder = project.root / "reid"
    shutil.copytree(sample(REID), folder, copy_function=shutil.copyfile)
    folder.chmod(0o755)
    (folder / "model.yaml").write_text(DESCRIPTION)
    np.save(folder / "inputs.npy", pictures(2))
    return folder


@pytest.fixture
def st() -> dict[str, str]:
    return st_core(sample("core/3.0"))


# In every run: tests/virtual_board/npu/test_real_network.py, tests/run/test_reference.py, test_real_core.py
# (the same network, built and run).
@pytest.mark.slow
def test_a_network_of_the_npu_is_as_the_facts_say(project: Project, reid: Path, st: dict[str, str]) -> None:
    result = project.done("model=reid", *VIRTUAL, "report", **st)
    assert "Reference reid/reference/reid.npy" in result.actions
    assert f"Interpreted {MODEL}, 2 inferences on ai-edge-litert" in result.output
    assert "2 of 2 outputs are as expected of the chip, cosine 0.99" in result.output
    assert "bit for bit" not in result.output
    folder = project.root / "build/nucleo-n657/reid"
    run = json.loads((folder / "run.json").read_text())
    for verdict in run["networks"][0]["verdicts"]:
        (output,) = verdict["outputs"]
        assert (verdict["passes"], verdict["equal"], output["type"]) == (True, False, "uint8")
        assert output["cosine"] >= 0.995
        assert output["equal"] >= 300
        assert output["within_1"] >= 600
    expected = np.load(folder / "reference/reid.npy")
    assert (expected.dtype, expected.shape) == (np.uint8, (2, 1, 1280))
    assert "are as expected of the chip" in " ".join((folder / "report.txt").read_text().split())
    assert "output Quantize_249_out_0, at worst: " in (folder / "report.html").read_text()

    # Only other inputs cause a new reference.
    assert "Reference reid/reference/reid.npy" not in project.scons("model=reid", *VIRTUAL, **st).actions
    np.save(reid / "inputs.npy", pictures(1, seed=4))
    again = project.scons("model=reid", *VIRTUAL, **st)
    assert "Reference reid/reference/reid.npy" in again.actions
    assert "1 of 1 outputs are as expected of the chip" in again.output

    # The outputs of the picture in reverse order differ as much as those of another one.
    (reid / "model.yaml").write_text(DESCRIPTION.replace("inputs.npy", "inputs.npy, expected: expected.npy"))
    np.save(reid / "expected.npy", expected[:1, :, ::-1])
    wrong = project.scons("model=reid", *VIRTUAL, **st).refused()
    assert (
        "model reid, vector 0, output Quantize_249_out_0: error N6-RUN-005: 1 of 1 outputs are further" in wrong.output
    )
    (reid / "model.yaml").write_text((reid / "model.yaml").read_text() + "tolerance: {cosine: 0.1}\n")
    assert project.scons("model=reid", *VIRTUAL, **st).status == 0


@pytest.mark.slow
def test_a_model_that_the_network_was_not_made_from_is_refused(
    project: Project, reid: Path, st: dict[str, str]
) -> None:
    shutil.copy(project.root / "models/keyword/keyword.tflite", reid / MODEL)
    result = project.scons("model=reid", *VIRTUAL, **st).refused()
    # Its weights are those of another model, before anything is joined or compared.
    assert f"error N6-PRE-006: are not the weights of {MODEL}" in result.output
    (reid / MODEL).write_bytes(b"TFL3" * 9)
    damaged = project.scons("model=reid", *VIRTUAL, **st)
    assert f"{MODEL}: error N6-MODEL-020: is not a valid tflite model" in damaged.output
    assert "Traceback" not in damaged.output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{model: mob", "{mdel: mob", "model.yaml:3: reference.mdel: error N6-YAML-003: unknown key 'mdel'"),
        ("int8.tflite", "int8.tfl", "reference.model: error N6-MODEL-003: no file"),
        ("name: reid", "name: reid\ntolerance: {cosin: 0.9}", "tolerance.cosin: error N6-YAML-003"),
    ],
)
def test_a_typo_is_said_with_its_line(project: Project, reid: Path, old: str, new: str, message: str) -> None:
    (reid / "model.yaml").write_text(DESCRIPTION.replace(old, new))
    result = project.scons("model=reid", *VIRTUAL).refused()
    assert message in result.output
    assert "did you mean" in result.output


def packages_without_interpreters(folder: Path) -> str:
    """Return packages of an environment that was set up without the extra."""
    folder.mkdir()
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if (
            not path.name.startswith(("ai_edge_litert", "onnxruntime", "__editable__", "n6build"))
            and path.suffix != ".pth"
        ):
            (folder / path.name).symlink_to(path)
    return str(folder)


@pytest.mark.slow
def test_without_the_extra_a_run_says_what_is_missing(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once the extra is installed, the run compares again."""
    project.replace("models/keyword/model.yaml", "  expected: expected.npy\n", "")
    assert EQUAL in project.scons("model=keyword", *VIRTUAL).output
    packages = packages_without_interpreters(tmp_path / "packages")
    with monkeypatch.context() as patched:
        patched.setattr(sys, "executable", sys._base_executable)  # type: ignore[attr-defined]
        path = f"{project.root / 'site_scons'}:{packages}"
        without = project.scons("model=keyword", *VIRTUAL, PYTHONPATH=path)
        doctor = project.scons("doctor", PYTHONPATH=path)
    assert without.status == 0, without.output
    assert (
        "Result 10 inferences, but no expected outputs for a comparison: package ai-edge-litert, which runs "
        "keyword.tflite, is not installed; run make setup, which installs the extra [compare]" in without.output
    )
    assert "missing ai-edge-litert" in doctor.output
    assert EQUAL in project.scons("model=keyword", *VIRTUAL).output


@pytest.mark.slow
def test_a_reason_not_to_compare_is_repeated(project: Project) -> None:
    project.replace("models/keyword/model.yaml", "  expected: expected.npy\n", "")
    project.replace("models/keyword/model.yaml", "result:", 'reference: {waive: "trained again every night"}\nresult:')
    result = project.done("model=keyword", *VIRTUAL)
    assert "10 inferences, but no expected outputs for a comparison: trained again every night" in result.output


def spectrograms(count: int) -> np.ndarray:
    """Return smoothed noise in the type of the network's input."""
    noise = np.random.default_rng(3).normal(size=(4, 64, 96, 1))
    for _ in range(3):
        noise = (noise + np.roll(noise, 1, 1) + np.roll(noise, 1, 2)) / 2
    return np.asarray(np.clip(np.round(noise / noise.std() * 50), -128, 127)[:count], np.int8)


@pytest.mark.slow
def test_a_network_whose_last_epochs_are_on_the_cpu_gets_what_the_npu_wrote(project: Project) -> None:
    """YAMNet, from an ONNX file, has int8 inputs and float outputs of ST's library.

    Both are floats in the model.
    """
    folder = project.root / "yamnet"
    shutil.copytree(sample("npu/yamnet-core-2.2"), folder, copy_function=shutil.copyfile)
    folder.chmod(0o755)
    np.save(folder / "inputs.npy", spectrograms(3))
    (folder / "model.yaml").write_text(
        "name: yamnet\nnetwork: {folder: .}\nresult: classification\nclasses: [a, b, c, d, e, f, g, h, i, j]\n"
        "reference: {model: yamnet_1024_64x96_tl_qdq_int8.onnx}\nvectors: {inputs: inputs.npy}\n"
        # The noise gives several classes near each other, so its top class is less robust than that of a
        # sound.
        "tolerance: {cosine: 0.9, top1: false}\n"
    )
    result = project.done("board=stm32n6570-dk", "model=yamnet", *VIRTUAL, **st_core(sample("core/2.2")))
    assert "3 of 3 outputs are as expected of the chip" in result.output
    run = json.loads((project.root / "build/stm32n6570-dk/yamnet/run.json").read_text())
    verdicts = run["networks"][0]["verdicts"]
    for verdict in verdicts:
        (output,) = verdict["outputs"]
        assert (output["type"], output["elements"]) == ("float32", 10)
    assert max(verdict["outputs"][0]["cosine"] for verdict in verdicts) >= 0.99
