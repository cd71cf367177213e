"""Networks with a class for each pixel: labels as pictures, and the mean IoU."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from n6build.base.errors import N6Error
from n6build.compile.artifacts.description import IoBuffer
from n6build.compile.quantise.process import QuantiseJob
from n6build.compile.quantise.quantise_onnx import quantised
from n6build.describe.postprocess import Postprocess
from n6build.describe.preprocess import Preprocess
from n6build.describe.quantise import Least, Quantise
from n6build.judge.accuracy.areas import IouSums, mean_iou
from n6build.judge.accuracy.figures import (
    NO_ACCURACY,
    Accuracy,
    AreaFigures,
    OutputFigures,
    accuracy_junit,
    lines_of,
    missed_limits,
)
from n6build.judge.accuracy.jobs import AccuracyJob
from n6build.judge.accuracy.run_both import measured
from n6build.judge.postprocess.decode import decode_all
from n6build.judge.postprocess.layout import layout_of
from onnx import TensorProto, helper
from onnx_models import onnx_bytes
from PIL import Image

SIZE, COUNT = 12, 10
LABELS = np.random.default_rng(5).integers(0, 3, (COUNT, SIZE // 4, SIZE // 4)).repeat(4, 1).repeat(4, 2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a network that finds colours, its int8 file, and pictures."""
    save_colours(tmp_path)
    (tmp_path / "int8.onnx").write_bytes(quantised(QuantiseJob(*files(tmp_path)[::2], Quantise(), compiles=True)).data)
    return tmp_path


def save_colours(folder: Path) -> None:
    """Write a network that finds the colour of each pixel, pictures, and their labels."""
    weights, shape = np.eye(3, dtype=np.float32).reshape(3, 3, 1, 1), [1, 3, SIZE, SIZE]
    node = helper.make_node("Conv", ["picture", "w"], ["areas"], "only", kernel_shape=[1, 1])
    data = onnx_bytes([node], {"picture": shape}, {"areas": shape}, {"w": weights}, 17, 8)
    (folder / "net.onnx").write_bytes(data)
    for name in ("pictures", "labels"):
        (folder / name).mkdir()
    noise = np.random.default_rng(6).integers(0, 60, (COUNT, SIZE, SIZE, 3))
    for number, labels in enumerate(LABELS):
        pixels = np.where(np.eye(3)[labels] > 0, 255 - noise[number], noise[number])
        Image.fromarray(pixels.astype(np.uint8)).save(folder / f"pictures/{number}.png")
        Image.fromarray(labels.astype(np.uint8)).save(folder / f"labels/{number}.png")


def files(folder: Path) -> tuple[str, str, tuple[str, ...]]:
    pictures = tuple(str(folder / f"pictures/{number}.png") for number in range(COUNT))
    return str(folder / "net.onnx"), str(folder / "int8.onnx"), pictures


def found(folder: Path, *labels: str, described: Postprocess | None = None, how: Preprocess | None = None) -> Accuracy:
    given = tuple(str(folder / each) for each in labels)
    return measured(AccuracyJob(*files(folder), given, (), Quantise(), how or Preprocess(), postprocess=described))


def pictures_of_labels(folder: Path) -> list[str]:
    return [f"labels/{each.name}" for each in sorted((folder / "labels").iterdir())]


def refused(folder: Path, *labels: str) -> N6Error:
    with pytest.raises(N6Error) as caught:
        found(folder, *labels)
    assert caught.value.id == "N6-QUANT-012"
    return caught.value


def test_pictures_are_labels_of_pixels(folder: Path) -> None:
    labels = pictures_of_labels(folder)
    assert found(folder, *labels).areas == AreaFigures("areas", 100.0, COUNT * SIZE * SIZE, 100.0, 100.0)
    # A larger label follows its picture; pixels without a label and wrong ones count as such.
    for name in labels:
        pixels = np.asarray(Image.open(folder / name)).repeat(3, 0).repeat(3, 1).copy()
        pixels[:18] = 255
        pixels[18:21, :18] = 1
        Image.fromarray(pixels).save(folder / name)
    areas = found(folder, *labels).areas
    assert areas is not None
    assert areas.labelled == COUNT * SIZE * SIZE // 2
    assert areas.float_iou == areas.int8_iou < 100


def test_indices_of_a_palette_are_classes(folder: Path) -> None:
    for name in pictures_of_labels(folder):
        picture = Image.open(folder / name).copy()
        picture.putpalette([200, 0, 0, 0, 100, 0, 50, 60, 70])
        assert picture.mode == "P"
        picture.save(folder / name)
    areas = found(folder, *pictures_of_labels(folder)).areas
    assert areas is not None
    assert areas.int8_iou == 100


def test_an_array_has_the_labels_of_all_pictures(folder: Path) -> None:
    np.save(folder / "labels.npy", LABELS.astype(np.uint8))
    found_by = found(folder, "labels.npy")
    assert found_by.is_accuracy
    assert list(lines_of(found_by))[-1] == "mean IoU 100.0 % float, 100.0 % int8"


def test_without_labels_the_pixels_of_both_models_are_compared(folder: Path) -> None:
    assert found(folder).areas is None
    figures = found(folder, described=Postprocess("segmentation"))
    assert figures.areas == AreaFigures("areas", 100.0)
    assert list(lines_of(figures))[-2:] == ["100.00 % of the pixels have the same class as in float", NO_ACCURACY]
    assert figures.drop == 0


def test_labels_that_do_not_fit(folder: Path) -> None:
    labels = pictures_of_labels(folder)
    assert "there is no label for sample '9.png'" in refused(folder, *labels[:-1]).what
    np.save(folder / "few.npy", LABELS[:4])
    assert "has 4 rows of type int64, but there are 10 samples" in refused(folder, "few.npy").what
    np.save(folder / "large.npy", LABELS.repeat(2, 1))
    assert "has labels of 24 x 12 pixels, but the output has 12 x 12" in refused(folder, "large.npy").what
    Image.new("L", (SIZE, SIZE), 3).save(folder / labels[2])
    error = refused(folder, *labels)
    assert (error.what, error.where) == ("has the class 3, but classes are numbered from 0 to 2", "2.png")
    Image.new("RGB", (SIZE, SIZE)).save(folder / labels[2])
    assert "has colours (RGB), not a number for each pixel" in refused(folder, *labels).what
    (folder / labels[2]).write_bytes(b"no picture")
    assert "is no picture that Pillow knows" in refused(folder, *labels).what


def test_pictures_as_labels_of_a_classifier(folder: Path) -> None:
    model = onnx.load(folder / "net.onnx")
    model.graph.node.append(helper.make_node("Flatten", ["areas"], ["flat"], "flat"))
    del model.graph.output[:]
    model.graph.output.append(helper.make_tensor_value_info("flat", TensorProto.FLOAT, [1, 3 * SIZE * SIZE]))
    onnx.save(model, folder / "net.onnx")
    job = QuantiseJob(*files(folder)[::2], Quantise(), compiles=True)
    (folder / "int8.onnx").write_bytes(quantised(job).data)
    error = refused(folder, *pictures_of_labels(folder))
    assert "labels are pictures, but no output has a class for each pixel: flat 1 x 432" in error.what


def test_the_mean_of_the_classes_that_occur() -> None:
    sums = IouSums(4)
    sums.add(np.array([0, 0, 0, 1, 1, 2]), np.array([0, 0, 1, 1, 1, 1]))
    # 2 of 3, 2 of 4, none of 1; the fourth class does not occur.
    assert sums.mean == pytest.approx(100 * (2 / 3 + 2 / 4 + 0) / 3)
    assert sums.same == pytest.approx(100 * 4 / 6)
    assert IouSums(2).mean == IouSums(2).same == 0


def test_the_mean_iou_of_areas_that_a_board_found(folder: Path) -> None:
    port = IoBuffer("areas", None, 4 * 3 * SIZE * SIZE, "float32", (1, 3, SIZE, SIZE), 1.0, 0)
    layout = layout_of(Postprocess("segmentation"), (), (port,), ())
    pictures = [Path(each) for each in files(folder)[2]]
    labels = [folder / each for each in pictures_of_labels(folder)]
    scores = np.eye(3, dtype=np.float32)[LABELS].transpose(0, 3, 1, 2)
    found_by_board = decode_all(layout, [each.tobytes() for each in scores])
    assert mean_iou(layout, found_by_board, labels, pictures, Preprocess()) == 100
    wrong = decode_all(layout, [each[::-1].tobytes() for each in scores])
    assert 0 < mean_iou(layout, wrong, labels, pictures, Preprocess()) < 40


FIGURES = Accuracy(20, (OutputFigures("areas", 22.0, None),), areas=AreaFigures("areas", 98.5, 9000, 71.25, 69.0))


def test_a_limit_of_the_mean_iou() -> None:
    (missed,) = missed_limits(FIGURES, Least(accuracy_drop=2))
    assert missed.what == "int8 loses 2.2 points of mean IoU, more than 2"
    assert not list(missed_limits(FIGURES, Least(accuracy_drop=2.25)))
    (missed,) = missed_limits(replace(FIGURES, areas=AreaFigures("areas", 98.5)), Least(accuracy_drop=1))
    assert missed.what == "int8 loses 1.5 points of agreement with the float model, more than 1"


def test_junit_has_a_case_for_the_accuracy_and_for_each_output() -> None:
    text = accuracy_junit("net", FIGURES, list(missed_limits(FIGURES, Least(accuracy_drop=2, sqnr_db=20)))).decode()
    assert 'tests="2" failures="1"' in text
    assert '<failure message="int8 loses 2.2 points of mean IoU, more than 2">' in text
    assert "<system-out>mean IoU 71.2 % float, 69.0 % int8</system-out>" in text
    text = accuracy_junit("net", replace(FIGURES, areas=None), []).decode()
    assert NO_ACCURACY in text
    assert 'failures="0"' in text
