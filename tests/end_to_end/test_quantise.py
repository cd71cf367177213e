"""A float model, quantised as a stage of the build, to the virtual board."""

from __future__ import annotations

import json
import re

import numpy as np
import onnx
from PIL import Image
from quantise.test_areas import save_colours
from trained_models import CLASSES, classifier, tflite_classifier

from end_to_end.conftest import Project

RUN = ("board=nucleo-n657", "backend=reference", "model=net", "probe=virtual", "flash", "run")
INT8 = "build/quantised/net/net_int8.onnx"
YAML = """name: net
file: net.onnx
classes: [circle, square, star, cross]
quantise: {samples: samples.npy, labels: labels.npy, least: {sqnr_db: 20, accuracy_drop: 1.0}}
"""


def test_float_in_board_out(project: Project) -> None:
    classifier().save(project.root / "net")
    (project.root / "net/model.yaml").write_text(YAML)
    result = project.done(*RUN)
    assert "Shape picture is 1 x 3 x 12 x 12: batch 1" in result.output
    assert "Quantised net.onnx, int8, 200 samples, minmax, a scale for each channel" in result.output
    assert "Accuracy net, SQNR against the float model on 200 samples: " in result.output
    assert " % float, " in result.output
    assert "no accuracy" not in result.output
    assert "Sampled network, the first 2 of samples.npy" in result.output
    assert "2 of 2 outputs equal the reference interpreter bit for bit" in result.output
    made = (project.root / INT8).read_bytes()
    figures = json.loads((project.root / "build/quantised/net/accuracy.json").read_text())
    assert (figures["count"], figures["labelled"]) == (200, 200)

    # Nothing is done again for nothing, and the bytes do not depend on the run.
    assert "Quantise" not in project.done(*RUN).output
    (project.root / INT8).unlink()
    assert "Network" not in project.done(*RUN).output
    assert (project.root / INT8).read_bytes() == made

    # An array is a dataset as well, and the board has the labels of its rows.
    with (project.root / "net/model.yaml").open("a") as file:
        file.write("result: classification\n")
    result = project.done(*RUN, "dataset=net/samples.npy", "most=30")
    (int8,) = re.findall(r"top-1 [\d.]+ % float, ([\d.]+) % int8", result.output)
    assert f"net has top-1 {int8} %, top-5 100.0 % on the board: " in result.output
    assert "of 30 inputs with a label" in result.output

    # Each sample is an input of the step.
    samples = np.load(project.root / "net/samples.npy")
    samples[17] *= 3
    np.save(project.root / "net/samples.npy", samples)
    assert f"Quantise {INT8}" in project.done(*RUN).output
    assert (project.root / INT8).read_bytes() != made


def test_a_float_tflite_model_goes_the_same_way(project: Project) -> None:
    tflite_classifier().save(project.root / "net", 60)
    (project.root / "net/model.yaml").write_text(YAML.replace("net.onnx", "net.tflite"))
    result = project.done(*RUN)
    assert "Shape tensor_0 is 1 x 12 x 12 x 3: batch 1" in result.output
    assert "Quantised net.tflite, int8, 60 samples, minmax, a scale for each channel" in result.output
    assert "2 of 2 outputs equal the reference interpreter bit for bit" in result.output
    made = project.root / "build/quantised/net/net_int8.tflite"
    data = made.read_bytes()
    assert "Quantise" not in project.done(*RUN).output
    made.unlink()
    assert "Network" not in project.done(*RUN).output
    assert made.read_bytes() == data


def test_pictures_in_folders_of_their_classes_are_samples_and_inputs(project: Project) -> None:
    trained = classifier()
    trained.save(project.root / "net")
    for number, (values, label) in enumerate(zip(trained.samples[:60], trained.labels[:60], strict=True)):
        folder = project.root / "net/pictures" / CLASSES[label]
        folder.mkdir(parents=True, exist_ok=True)
        pixels = np.clip(np.rint((values.transpose(1, 2, 0) + 6) * 255 / 12), 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{number}.png")
    text = YAML.replace("samples: samples.npy, labels: labels.npy", "samples: pictures").replace("20", "15")
    text += "result: classification\n"
    text += "preprocess: {scale: 0.0470588, mean: [6]}\n"
    (project.root / "net/model.yaml").write_text(text)
    result = project.done(*RUN, "dataset=net/pictures", "most=40")
    assert "Inputs pictures, 40 rows for network, float32" in result.output
    assert "40 of 40 outputs equal the reference interpreter bit for bit" in result.output
    # The same pictures, in the reference interpreter and on the board.
    (int8,) = re.findall(r"top-1 [\d.]+ % float, ([\d.]+) % int8", result.output)
    assert f"net has top-1 {int8} %, top-5 100.0 % on the board: " in result.output
    # A table of labels counts more than the folders; each of its lines is an input.
    rows = [f"{number}.png,{CLASSES[label]}" for number, label in enumerate(trained.labels[:60])]
    (project.root / "net/labels.csv").write_text("\n".join(reversed(rows)))
    (project.root / "net/model.yaml").write_text(
        text.replace("samples: pictures", "samples: pictures, labels: labels.csv")
    )
    result = project.done(*RUN, "dataset=net/pictures", "most=40")
    assert f"net has top-1 {int8} %, top-5 100.0 % on the board: " in result.output
    (project.root / "net/labels.csv").write_text("\n".join(rows[1:]))
    assert "N6-QUANT-012: has no line for sample '0.png'" in project.scons(*RUN, "dataset=net/pictures").output
    (project.root / "net/model.yaml").write_text(text)
    (project.root / "net/pictures/star").rename(project.root / "net/pictures/sun")
    assert "N6-QUANT-012: folder 'sun' is not a class of this model" in project.scons(*RUN).output


def test_the_mean_iou_of_float_int8_and_board_is_in_the_report(project: Project) -> None:
    (project.root / "net").mkdir()
    save_colours(project.root / "net")
    (project.root / "net/model.yaml").write_text(
        "name: net\nfile: net.onnx\nclasses: [red, green, blue]\npostprocess: {decoder: segmentation}\n"
        "quantise: {samples: pictures, labels: labels, least: {accuracy_drop: 1.0}}\n"
    )
    result = project.done(*RUN, "report", "dataset=net/pictures")
    assert "Accuracy net, mean IoU 100.0 % float, 100.0 % int8" in result.output
    assert "net has mean IoU 100.0 % on the board: 10 inputs" in result.output
    page = (project.root / "build/nucleo-n657/net/report.html").read_text()
    assert "<td>mean IoU</td>" + '<td class="n">100.0 %</td>' * 3 in page
    assert "9 of 10 inputs, 12 x 12 pixels, float32." in page
    assert "accuracy on the board" in (project.root / "build/nucleo-n657/net/run.xml").read_text()
    # Each label is an input.
    (project.root / "net/labels/3.png").unlink()
    assert "N6-QUANT-012: there is no label for sample '3.png'" in project.scons(*RUN, "dataset=net/pictures").output


def test_a_limit_that_is_missed_programs_nothing(project: Project) -> None:
    path = classifier().save(project.root / "net", 50)
    (project.root / "net/model.yaml").write_text(YAML.replace("sqnr_db: 20", "sqnr_db: 90"))
    result = project.scons(*RUN).refused()
    assert "N6-QUANT-013: output 'classes' has " in result.output
    assert "less than 90" in (project.root / "build/quantised/net/accuracy.xml").read_text()
    assert not (project.root / "build/quantised/net/accuracy.json").exists()
    assert result.flashed == "nothing"
    # A file with another digest than the pinned one is not compiled.
    text = YAML.replace("least: {sqnr_db: 20, accuracy_drop: 1.0}", "most: 50")
    (project.root / "net/model.yaml").write_text(f"sha256: {'0' * 64}\n{text}")
    assert "N6-MODEL-006" in project.scons(*RUN).output
    assert onnx.load(path).graph.node
