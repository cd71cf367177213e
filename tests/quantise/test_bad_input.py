"""Samples, labels and float models that stage 0 refuses, each with a sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from n6build.base.errors import N6Error
from n6build.compile.quantise import quantise_onnx
from n6build.compile.quantise.process import QuantiseAnswer, QuantiseJob, answer_of
from n6build.compile.quantise.quantise_onnx import quantised
from n6build.describe.choices import Choices
from n6build.describe.model import load_model
from n6build.describe.quantise import Least, Quantise
from n6build.describe.sample_files import sample_files
from n6build.judge.accuracy.figures import NO_ACCURACY, Accuracy, OutputFigures, lines_of, missed_limits
from n6build.judge.accuracy.labels import read_labels
from n6build.steps import quantise_model
from n6build.steps.quantise_model import quantise_steps, with_int8_file
from onnx import TensorProto, helper
from onnx_models import onnx_model
from trained_models import CLASSES, classifier


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a float model and its samples."""
    classifier().save(tmp_path, 20)
    return tmp_path


def refused(folder: Path, settings: Quantise | None = None, samples: str = "samples.npy") -> N6Error:
    names = folder / "net.onnx", folder / samples
    with pytest.raises(N6Error) as caught:
        quantised(QuantiseJob(str(names[0]), (str(names[1]),), settings or Quantise(), compiles=True))
    assert caught.value.where
    return caught.value


def resized(samples: np.ndarray) -> np.ndarray:
    return samples[:, :, :8, :8]


def with_a_bad_value(value: float) -> Callable[[np.ndarray], np.ndarray]:
    def change(samples: np.ndarray) -> np.ndarray:
        samples[3, 0, 0, 0] = value
        return samples

    return change


@pytest.mark.parametrize(
    ("change", "id", "what", "hint"),
    [
        (resized, "N6-QUANT-005", "has the shape 3 x 8 x 8, but input 'picture' takes 1 x 3 x 12 x 12", "a row"),
        (lambda each: each.transpose(0, 2, 3, 1), "N6-QUANT-005", "has the shape 12 x 12 x 3", "transpose(0, 3, 1, 2)"),
        (lambda each: (each * 9).astype(np.uint8), "N6-QUANT-005", "has values of type uint8", "astype(numpy.float32)"),
        (lambda each: each[:7], "N6-QUANT-006", "has 7 samples, fewer than 8", "about 100 inputs"),
        (lambda each: each[:1].repeat(9, 0), "N6-QUANT-006", "has only equal samples", "different inputs"),
        (with_a_bad_value(np.nan), "N6-QUANT-006", "has a value that is NaN for input 'picture'", "remove"),
        (with_a_bad_value(np.inf), "N6-QUANT-006", "has a value that is infinite", "remove"),
    ],
)
def test_samples(change: Callable[[np.ndarray], np.ndarray], id: str, what: str, hint: str, folder: Path) -> None:
    np.save(folder / "samples.npy", change(np.load(folder / "samples.npy")))
    error = refused(folder)
    assert error.id == id
    assert what in error.what
    assert hint in (error.hint or "")


def test_the_sample_with_a_bad_value_is_named(folder: Path) -> None:
    np.save(folder / "samples.npy", with_a_bad_value(np.nan)(np.load(folder / "samples.npy")))
    assert refused(folder).where == "samples.npy[3]"


@pytest.mark.parametrize("data", [b"", b"\x93NUMPY", b"no array at all", b"\x93NUMPY\x01\x00\x10\x00{'descr': '|O'}  "])
def test_a_damaged_file_of_samples(data: bytes, folder: Path) -> None:
    (folder / "samples.npy").write_bytes(data)
    error = refused(folder)
    assert (error.id, error.where) == ("N6-QUANT-005", "samples.npy")
    assert "is not a valid NumPy array" in error.what


def test_a_file_that_is_cut_off(folder: Path) -> None:
    data = (folder / "samples.npy").read_bytes()
    (folder / "samples.npy").write_bytes(data[:-5])
    assert "but has" in refused(folder).what


def test_an_array_that_no_input_has(folder: Path) -> None:
    np.savez(folder / "samples.npz", image=np.load(folder / "samples.npy"))
    error = refused(folder, samples="samples.npz")
    assert error.what == "has no array for input 'picture', but image"


@pytest.mark.parametrize(
    ("names", "what"),
    [
        ((), "but nothing"),
        (("a.heic", "b.heic"), "has no samples in a known format"),
        (("a.txt",), "but .txt"),
    ],
)
def test_folders_without_samples(names: tuple[str, ...], what: str, tmp_path: Path) -> None:
    for name in names:
        (tmp_path / name).write_bytes(b"x")
    with pytest.raises(N6Error) as caught:
        sample_files(tmp_path)
    assert caught.value.id == "N6-QUANT-005"
    assert what in caught.value.what


def test_pictures_of_phones_need_a_conversion(tmp_path: Path) -> None:
    (tmp_path / "IMG_1.HEIC").write_bytes(b"x")
    with pytest.raises(N6Error) as caught:
        sample_files(tmp_path)
    assert "heif-convert" in (caught.value.hint or "")


def test_an_array_that_is_larger_than_a_file_may_be(folder: Path) -> None:
    rows = 3 << 20
    with (folder / "samples.npy").open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (rows, 3, 12, 12)})
        file.truncate(file.tell() + rows * 3 * 12 * 12 * 4)
    error = refused(folder)
    assert (error.id, error.where) == ("N6-QUANT-005", "samples.npy")
    assert "has 5184.0 MiB, and a file may have 4096.0 MiB" in error.what
    assert "several .npy files in a folder" in (error.hint or "")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(N6Error, match="no such file or folder"):
        sample_files(tmp_path / "nowhere")


# Float models


def test_a_quantised_model(folder: Path) -> None:
    (folder / "net.onnx").write_bytes(onnx_model(quantised=True))
    error = refused(folder)
    assert error.id == "N6-QUANT-001"
    assert "is already quantised" in error.what


def test_weights_in_another_file(folder: Path) -> None:
    model = onnx.load(folder / "net.onnx")
    onnx.save(model, folder / "net.onnx", save_as_external_data=True, size_threshold=0)
    assert "keeps its weights in another file" in refused(folder).what


@pytest.mark.parametrize("data", [b"", b"not a model", b"\x08\x07"])
def test_a_damaged_model(data: bytes, folder: Path) -> None:
    (folder / "net.onnx").write_bytes(data)
    assert refused(folder).id == "N6-MODEL-020"


def test_operators_without_a_kernel_are_named_before_any_sample_is_computed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = onnx.load(folder / "net.onnx")
    output = helper.make_tensor_value_info("end", TensorProto.FLOAT, None)
    model.graph.node.extend(
        [helper.make_node("LpNormalization", ["r2"], ["a"], "norm"), helper.make_node("Det", ["a"], ["end"])]
    )
    model.graph.output.append(output)
    onnx.save(model, folder / "net.onnx")
    monkeypatch.setattr(quantise_onnx, "ranges_of", lambda *_: pytest.fail("a sample was computed"))
    error = refused(folder)
    assert error.id == "N6-NET-003"
    assert "LpNormalization" in error.what
    assert "Det" in error.what


def test_a_model_that_the_quantiser_leaves_as_it_is(folder: Path) -> None:
    error = refused(folder, Quantise(exclude=("Conv", "Gemm", "Relu", "Flatten")))
    assert (error.id, error.what) == (
        "N6-QUANT-007",
        "none of its operators can be quantised: Conv, Flatten, Gemm, Relu",
    )


def test_an_open_size_that_nothing_tells(folder: Path) -> None:
    model = onnx.load(folder / "net.onnx")
    model.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "height"
    onnx.save(model, folder / "net.onnx")
    np.save(folder / "samples.npy", np.load(folder / "samples.npy").reshape(20, -1))
    error = refused(folder)
    assert (error.id, error.what) == ("N6-QUANT-002", "input 'picture' has an open dimension 'height'")
    assert "quantise: {shape: {height: 224}}" in (error.hint or "")


@pytest.mark.parametrize(
    ("settings", "id", "what"),
    [
        (Quantise(shape={"hight": 3}), "N6-QUANT-002", "no input has the dimension 'hight'"),
        (Quantise(exclude=("frist",)), "N6-QUANT-003", 'no node has the name or operator "frist"'),
        (Quantise(outputs=("clases",)), "N6-QUANT-003", "no node makes the tensor 'clases'"),
    ],
)
def test_names_that_the_model_does_not_have(settings: Quantise, id: str, what: str, folder: Path) -> None:
    error = refused(folder, settings)
    assert error.id == id
    assert what in error.what
    assert "did you mean" in (error.hint or "") or "batch" in (error.hint or "")


def test_anchors_are_no_output_of_a_network(folder: Path) -> None:
    model = onnx.load(folder / "net.onnx")
    model.graph.node.append(helper.make_node("Relu", ["scale"], ["anchors"], "made"))
    model.graph.output.append(helper.make_tensor_value_info("anchors", TensorProto.FLOAT, [8]))
    onnx.save(model, folder / "net.onnx")
    error = refused(folder)
    assert (error.id, error.what) == ("N6-QUANT-015", "output 'anchors' is a constant: no input changes it")
    assert "quantise: {outputs: [classes]}" in (error.hint or "")


def test_a_graph_that_onnxruntime_refuses(folder: Path) -> None:
    model = onnx.load(folder / "net.onnx")
    model.graph.node[0].input[1] = "nothing"
    onnx.save(model, folder / "net.onnx")
    assert refused(folder).id == "N6-QUANT-004"


def test_a_quantiser_that_fails_and_one_that_makes_an_invalid_model(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    def fail(*_: object) -> None:
        raise ValueError("no range for tensor x\nmore")

    with monkeypatch.context() as patch:
        patch.setattr(quantise_onnx, "QDQQuantizer", fail)
        error = refused(folder)
    assert (error.id, error.what) == ("N6-QUANT-007", "ONNX Runtime cannot quantise it: no range for tensor x")
    monkeypatch.setattr(quantise_onnx, "_int8_bytes", lambda *_: b"\x08\x07")
    monkeypatch.setattr(quantise_onnx, "_refuse_operators", lambda *_: None)
    assert refused(folder).id == "N6-QUANT-008"


def test_a_process_that_dies(folder: Path) -> None:
    job = QuantiseJob(str(folder / "net.onnx"), (str(folder / "samples.npy"),), Quantise(), compiles=True)
    with pytest.raises(N6Error, match="ended without an answer") as caught:
        answer_of("n6build.no_such_module", job, QuantiseAnswer, "net.onnx")
    assert caught.value.id == "N6-QUANT-009"


# Descriptions and options


def described(folder: Path, text: str) -> Path:
    classifier().save(folder, 20)
    (folder / "model.yaml").write_text(f"name: net\nfile: net.onnx\n{text}")
    return folder


def test_samples_that_are_not_named(tmp_path: Path) -> None:
    model = load_model(str(described(tmp_path / "net", "quantise: {method: minmax}\n")))
    with pytest.raises(N6Error, match="error N6-QUANT-010: "):
        with_int8_file(model, Choices())


def test_samples_for_two_models(tmp_path: Path) -> None:
    model = load_model(str(described(tmp_path / "net", "")))
    with pytest.raises(N6Error, match="for a single model"):
        with_int8_file(model, Choices(models=("a", "b"), samples="samples.npy"))


@pytest.mark.parametrize(
    ("yaml", "id"),
    [
        ("quantise: {samples: nothing.npy}\n", "N6-MODEL-003"),
        ("quantise: {samples: samples.npy, labels: nothing.txt}\n", "N6-MODEL-003"),
        ("quantise: {samples: samples.npy, most: 7}\n", "N6-YAML-004"),
        ("quantise: {samples: samples.npy, method: average}\n", "N6-YAML-004"),
        ("quantise: {sample: samples.npy}\n", "N6-YAML-003"),
    ],
)
def test_descriptions(yaml: str, id: str, tmp_path: Path) -> None:
    with pytest.raises(N6Error, match=f"error {id}: "):
        load_model(str(described(tmp_path / "net", yaml)))


@pytest.mark.parametrize("name", ["net.h5", "net.keras", "saved"])
def test_a_keras_model_is_refused_with_the_commands_that_convert_it(name: str, tmp_path: Path) -> None:
    if name == "saved":
        (tmp_path / name).mkdir()
    (tmp_path / name / "saved_model.pb" if name == "saved" else tmp_path / name).write_bytes(b"any")
    with pytest.raises(N6Error) as caught:
        load_model(str(tmp_path / name))
    assert caught.value.id == "N6-MODEL-002"
    assert f"TFLiteConverter.from_{'saved_model' if name == 'saved' else 'keras_model'}" in (caught.value.hint or "")
    assert f"model={name.partition('.')[0]}.tflite" in (caught.value.hint or "")
    assert ("TF_USE_LEGACY_KERAS=1" in (caught.value.hint or "")) == (name == "net.h5")


def test_the_file_of_a_description_is_refused_alike(tmp_path: Path) -> None:
    folder = described(tmp_path / "net", "quantise: {samples: samples.npy}\n")
    (folder / "model.yaml").write_text("name: net\nfile: net.h5\nquantise: {samples: samples.npy}\n")
    (folder / "net.h5").write_bytes(b"any")
    with pytest.raises(N6Error, match="from_keras_model"):
        with_int8_file(load_model(str(folder)), Choices())


def test_a_compiled_network_has_nothing_to_quantise(tmp_path: Path) -> None:
    model = replace(load_model(str(described(tmp_path / "net", ""))), file=None)
    with pytest.raises(N6Error, match="is compiled already"):
        with_int8_file(model, Choices(samples="samples.npy"))


def test_without_onnxruntime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = load_model(str(described(tmp_path / "net", "")))
    monkeypatch.setattr(quantise_model, "_NEEDED", {".onnx": (("no_such_package", "onnxruntime"),)})
    with pytest.raises(N6Error) as caught:
        with_int8_file(model, Choices(samples="samples.npy"))
    assert caught.value.id == "N6-QUANT-011"
    assert caught.value.hint == "run make setup, which installs the extra [quantise]"


def test_every_sample_is_a_source_by_its_content(tmp_path: Path) -> None:
    model = load_model(str(described(tmp_path / "net", "quantise: {samples: .}\n")))
    np.save(tmp_path / "net/another.npy", np.zeros(3))
    quantise, accuracy = quantise_steps(with_int8_file(model, Choices()), compiles=True)
    names = [Path(each).name for each in quantise.sources]
    assert names == ["net.onnx", "another.npy", "labels.npy", "samples.npy"]
    assert [Path(each).name for each in accuracy.sources] == ["net.onnx", "net_int8.onnx", *names[1:]]
    assert [each.name for each in quantise.tools] == ["processor"]


# Labels and limits

SAMPLES = ("a.png", "b.png", "c.png")


@pytest.mark.parametrize(
    ("name", "data", "what"),
    [
        ("labels.txt", b"circle\nsquare\n", "has 2 labels, but there are 3 samples"),
        ("labels.txt", b"circle\nsqare\nstar\n", "'sqare' is not a class of this model"),
        ("labels.txt", b"0\n1\n4\n", "has the label 4, but classes are numbered from 0 to 3"),
        ("labels.npy", b"\x93NUMPY", "is not an array with the number of a class"),
        ("labels.csv", b"file,class\na.png,circle\nb.png,star\n", "has no line for sample 'c.png'"),
        ("labels.csv", b"a.png;circle\nb.png;moon\nc.png;star", "'moon' is not a class of this model"),
    ],
)
def test_labels_that_do_not_fit(name: str, data: bytes, what: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(N6Error) as caught:
        read_labels(tmp_path / name, CLASSES, SAMPLES, 4)
    assert caught.value.id == "N6-QUANT-012"
    assert what in caught.value.what


def test_labels_by_name_and_by_number(tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_text("star\n1\ncircle\n")
    assert read_labels(tmp_path / "labels.txt", CLASSES, SAMPLES, 4) == [2, 1, 0]
    np.save(tmp_path / "labels.npy", np.array([[2], [1], [0]]))
    assert read_labels(tmp_path / "labels.npy", (), SAMPLES, 4) == [2, 1, 0]
    (tmp_path / "labels.csv").write_text("file, class\nx/c.png, circle\na.png, star\nb.png, 1\nd.png, 3\n")
    assert read_labels(tmp_path / "labels.csv", CLASSES, SAMPLES, 4) == [2, 1, 0]


def test_labels_that_the_network_cannot_have(tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_text("0\n1\n4\n")
    with pytest.raises(N6Error, match="has the label 4, but classes are numbered from 0 to 3"):
        read_labels(tmp_path / "labels.txt", (), SAMPLES, 4)
    with pytest.raises(N6Error, match="has classes, but no output of the network has"):
        read_labels(tmp_path / "labels.txt", (), SAMPLES, 0)
    (tmp_path / "labels.csv").write_text("a.png,0\n")
    with pytest.raises(N6Error, match="two samples have the same name"):
        read_labels(tmp_path / "labels.csv", (), ("a.png", "a.png"), 4)


NOISY = Accuracy(100, (OutputFigures("classes", 18.4, 93),))
LABELLED = replace(NOISY, labelled=100, float_top1=90, int8_top1=88, float_top5=99, int8_top5=98)
WITHOUT_CLASSES = Accuracy(100, (OutputFigures("picture", 18.4, None),))


@pytest.mark.parametrize(
    ("figures", "least", "what"),
    [
        (NOISY, Least(sqnr_db=25), "output 'classes' has 18.4 dB against the float model, less than 25"),
        (NOISY, Least(accuracy_drop=5), "int8 loses 7.0 points of agreement with the float model, more than 5"),
        (LABELLED, Least(accuracy_drop=1.5), "int8 loses 2.0 points of accuracy, more than 1.5"),
        (WITHOUT_CLASSES, Least(accuracy_drop=1), "quantise.least.accuracy_drop needs labels"),
    ],
)
def test_limits_that_are_missed(figures: Accuracy, least: Least, what: str) -> None:
    (missed,) = missed_limits(figures, least)
    assert what in missed.what


def test_limits_that_are_kept() -> None:
    assert not list(missed_limits(LABELLED, Least(sqnr_db=18, accuracy_drop=2)))


def test_lines_without_labels_say_that_they_are_no_accuracy() -> None:
    lines = list(lines_of(NOISY))
    assert lines[1:] == ["93 of 100 samples have the same class as in float", NO_ACCURACY]
    assert NO_ACCURACY not in lines_of(LABELLED)
