"""A model is a folder with a model.yaml, or a bare file.

A mistake in the description has a line.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from n6build.base.errors import N6Error
from n6build.compile.backend import check_sha256
from n6build.describe.model import EpochTolerance, Model, Tolerance, load_model, model_names
from n6build.steps.network import check_options

DESCRIPTION = """name: tiny
file: tiny.tflite
result: classification
classes: [a, b]
vectors: {inputs: inputs.npy, labels: [a, b]}
"""


@pytest.fixture
def models(tmp_path: Path) -> Path:
    folder = tmp_path / "models" / "tiny"
    folder.mkdir(parents=True)
    (folder / "model.yaml").write_text(DESCRIPTION)
    (folder / "tiny.tflite").write_bytes(b"model")
    (folder / "inputs.npy").touch()
    return folder.parent


def test_a_folder_is_found_by_name_and_by_path(models: Path) -> None:
    assert load_model("tiny", models).file == models / "tiny" / "tiny.tflite"
    assert load_model("models/tiny", relative_to=models.parent).name == "tiny"


def test_every_model_of_the_project_loads() -> None:
    assert {load_model(name).name for name in model_names()} >= {"miniresnet", "keyword", "anomaly"}


@pytest.mark.parametrize("wrong", ["own/keywrd.tflite", "onw/keyword.tflite", "./own/keyword.tflit"])
def test_a_path_with_a_typo_is_answered_with_the_nearest_one(wrong: str, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "keyword.tflite").touch()
    with pytest.raises(N6Error) as caught:
        load_model(wrong, relative_to=tmp_path)
    assert (caught.value.id, caught.value.hint) == ("N6-MODEL-001", "did you mean 'own/keyword.tflite'?")


@pytest.mark.parametrize("wrong", ["own/abc.onnx", "elsewhere/deep/keyword.tflite", "nowhere.tflite", "./own"])
def test_a_path_that_is_like_no_other_gets_the_forms_of_models(wrong: str, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "keyword.tflite").touch()
    with pytest.raises(N6Error, match=r"no model (file or folder|in folder) .*\n.*a \.tflite or \.onnx file"):
        load_model(wrong, relative_to=tmp_path)


def test_a_bare_file_gets_a_name_that_c_and_folders_can_have(tmp_path: Path) -> None:
    (tmp_path / 'my "best" net.tflite').touch()
    model = load_model('my "best" net.tflite', relative_to=tmp_path)
    assert (model.name, model.inputs, model.sha256) == ("my__best__net-9389a9f5", None, None)


# Each row is (text, another one, message).
CHANGED = [
    ("name: tiny", 'name: "ti ny"', "model.yaml:1: name: error N6-MODEL-007"),
    ("tiny.tflite", "tny.tflite", "model.yaml:2: file: error N6-MODEL-003: no file 'tny.tflite'\n  hint: did you mean"),
    ("result: classification", "result: clasification", "model.yaml:3: result: error N6-YAML-004"),
    ("classes: [a, b]\n", "", "N6-MODEL-004: a classification needs the names of its classes"),
    ("labels: [a, b]", "labels: [a, c]", "vectors.labels.1: error N6-MODEL-005: label 'c' is not a class"),
    ("inputs: inputs.npy", "inputs: none.npy", "vectors.inputs: error N6-MODEL-003"),
    ("file: tiny", "flie: tiny", "did you mean 'file'?"),
    ("file: tiny.tflite\n", "", "N6-MODEL-008: key 'file' is missing"),
]
# Each row is (line that is added, message).
ADDED = [
    ("network: {folder: none}", "network.folder: error N6-MODEL-003: no folder 'none'"),
    ("network: {backend: stedgeai}", "N6-MODEL-010: no backend 'stedgeai'\n  hint: did you mean 'st_"),
    ("network: {st_edge: {}}", "network.st_edge: error N6-YAML-003: unknown key 'st_edge'\n  hint: did"),
    ("network: {name: 2-nets}", "network.name: error N6-MODEL-007"),
    ("network: {pools: {npuRAM4: 64 kB}}", "network.pools.npuRAM4: error N6-YAML-004"),
    (
        'checks: {waive: {N6-CHECK-003: ""}}',
        "checks.waive.N6-CHECK-003: error N6-MODEL-009: a waived check needs a reason",
    ),
    (
        "reference: {model: tny.tflite}",
        "model.yaml:3: reference.model: error N6-MODEL-003: no file 'tny.tflite'\n  hint: did you mean 'tiny.tflite'?",
    ),
    (
        "reference: {mdel: tiny.tflite}",
        "reference.mdel: error N6-YAML-003: unknown key 'mdel'\n  hint: did you mean 'model'?",
    ),
    ("reference: {model: inputs.npy}", "reference.model: error N6-MODEL-011: no interpreter supports 'inputs.npy'"),
    (
        "reference: {model: tiny.tflite, waive: no}",
        "reference.model: error N6-MODEL-011: reference.model and reference.waive",
    ),
    ("tolerance: {cosine: 1.1}", "tolerance.cosine: error N6-YAML-004: 1.1 is outside -1..1"),
    ("tolerance: {cosine: .nan}", "tolerance.cosine: error N6-YAML-004: nan is outside -1..1"),
    ("tolerance: {top1: 5}", "tolerance.top1: error N6-YAML-004: '5' must be true or false"),
    (
        "tolerance: {epoch: {within1: 1}}",
        "tolerance.epoch.within1: error N6-YAML-003: unknown key 'within1'\n  hint: did you mean 'within_1'?",
    ),
    ("tolerance: {epoch: {equal: -0.1}}", "tolerance.epoch.equal: error N6-YAML-004: -0.1 is outside 0..1"),
]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [*CHANGED, *(("result:", f"{added}\nresult:", message) for added, message in ADDED)],
)
def test_a_wrong_description_is_refused_with_its_line(models: Path, old: str, new: str, message: str) -> None:
    (models / "tiny" / "model.yaml").write_text(DESCRIPTION.replace(old, new))
    with pytest.raises(N6Error) as error:
        load_model("tiny", models)
    assert message in str(error.value)


def described(models: Path, more: str, old: str = "") -> Model:
    (models / "tiny" / "model.yaml").write_text(DESCRIPTION.replace(old, "") + more)
    return load_model("tiny", models)


def test_the_model_itself_is_the_reference_unless_another_is_named_or_a_reason_given(models: Path) -> None:
    (models / "tiny" / "other.onnx").touch()
    assert described(models, "").reference == models / "tiny" / "tiny.tflite"
    assert described(models, "reference: {model: other.onnx}\n").reference == models / "tiny" / "other.onnx"
    waived = described(models, "reference: {waive: an operator of our own}\n")
    assert (waived.reference, waived.not_compared) == (None, "an operator of our own")
    compiled = described(models, "network: {folder: .}\n", "file: tiny.tflite\n")
    assert compiled.reference is None
    assert compiled.not_compared.startswith("network.c does not name its model")
    named = described(models, "network: {folder: .}\nreference: {model: other.onnx}\n", "file: tiny.tflite\n")
    assert (named.reference, named.not_compared) == (models / "tiny" / "other.onnx", "")


def test_tolerances_that_are_not_named_are_those_of_the_facts(models: Path) -> None:
    assert described(models, "").tolerance is None
    assert described(models, "tolerance: {}\n").tolerance == Tolerance(0.99, True)
    named = "tolerance: {cosine: 0.95, top1: false, epoch: {within_1: 1}}\n"
    assert described(models, named).tolerance == Tolerance(0.95, False, EpochTolerance(0.98, 1.0))


def test_another_file_than_the_described_one_is_refused(models: Path) -> None:
    (models / "tiny" / "model.yaml").write_text(DESCRIPTION + "sha256: " + "0" * 64 + "\n")
    with pytest.raises(N6Error, match="N6-MODEL-006"):
        check_sha256(models / "tiny/tiny.tflite", load_model("tiny", models).sha256)


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (
            "{st_edge_ai: {arguments: [--binary]}}",
            "model.yaml:6: network.st_edge_ai.arguments: error N6-STAI-010: '--binary' belongs to the flow without NPU",
        ),
        (
            "{st_edge_ai: {own_input: true}}",
            "model.yaml:6: network.st_edge_ai.own_input: error N6-YAML-003: unknown key",
        ),
        ("{reference: {}}", "model.yaml:6: network.reference: error N6-YAML-003: this backend has no options"),
    ],
)
def test_options_of_a_backend_are_refused_with_their_line_whichever_backend_is_taken(
    models: Path, network: str, message: str
) -> None:
    (models / "tiny" / "model.yaml").write_text(f"{DESCRIPTION}network: {network}\n")
    with pytest.raises(N6Error) as error:
        check_options(load_model("tiny", models))
    assert message in str(error.value)
