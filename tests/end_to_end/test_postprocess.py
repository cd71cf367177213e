"""A run of real scons prints, writes and draws what a network finds in pictures."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from one_op_models import Quantisation, quantize, reshape
from PIL import Image

from end_to_end.conftest import Project, make_project

RUN = ("probe=virtual", "flash", "run")
# The pictures of this network are its boxes: a row for each number and class, a column for each box.
BOXES = "name: boxes\nfile: net.tflite\nclasses: [cat, dog]\npostprocess: {decoder: yolo_v8}\n"
COLOURS = "name: colours\nfile: net.tflite\nclasses: [red, green, blue]\npostprocess: {decoder: segmentation}\n"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = make_project(tmp_path_factory.mktemp("postprocess"))
    for name, model, description in (
        ("boxes", reshape((1, 6, 8, 1), (1, 6, 8), Quantisation(1 / 255, -128)), BOXES),
        (
            "colours",
            quantize((1, 24, 32, 3), np.uint8, np.int8, Quantisation(1 / 255, 0), Quantisation(1 / 255, -128)),
            COLOURS,
        ),
    ):
        (project.root / name).mkdir()
        (project.root / name / "net.tflite").write_bytes(model)
        (project.root / name / "model.yaml").write_text(description)
    return project


def draw_boxes(path: Path) -> None:
    """Draw a picture with a cat, a worse box of it, and a dog."""
    values = np.zeros((6, 8), np.uint8)
    values[:, 0] = [128, 128, 51, 102, 230, 0]
    values[:, 1] = [128, 128, 51, 102, 255, 0]
    values[:, 2] = [64, 191, 51, 51, 0, 204]
    path.parent.mkdir(exist_ok=True)
    Image.fromarray(values).save(path)


def test_boxes_are_printed_written_and_drawn(shared: Project) -> None:
    draw_boxes(shared.root / "photos/1.png")
    Image.new("L", (8, 6)).save(shared.root / "photos/2.png")
    result = shared.done("model=boxes", "inputs=photos", "build", *RUN, "report")
    assert "Box cat 1.000, 2 x 2 pixels at (3, 2) of 1.png" in result.output
    assert "Box dog 0.800, 2 x 1 pixels at (1, 4) of 1.png" in result.output
    assert "Found nothing in 2.png" in result.output
    folder = shared.root / "build/nucleo-n657/boxes"
    first, second = json.loads((folder / "boxes.json").read_text())
    assert [(each["label"], each["score"]) for each in first["found"]] == [("cat", 1.0), ("dog", 0.8)]
    assert (first["found"][0]["x"], first["found"][0]["height"]) == pytest.approx((3.22, 2.4), abs=0.01)
    assert (first["model"], second["input"], second["found"]) == ("boxes", "2.png", [])
    with Image.open(folder / "boxes.png") as drawn:
        assert drawn.size == (16, 6)
    report = (folder / "report.html").read_text()
    assert "data:image/png;base64," in report
    assert "found in 2 inputs: cat (1), dog (1)" in report
    # The labels have the cat half a pixel lower, and a dog in the second picture.
    labels = {
        "images": [{"id": 7, "file_name": "photos/1.png"}, {"id": 9, "file_name": "2.png"}],
        "categories": [{"id": 1, "name": "Cat"}, {"id": 2, "name": "dog"}],
        "annotations": [
            {"id": 1, "image_id": 7, "category_id": 1, "bbox": [3.2, 2.3, 1.6, 2.4], "segmentation": []},
            {"id": 2, "image_id": 7, "category_id": 2, "bbox": [1.2, 3.9, 1.6, 1.2]},
            {"id": 3, "image_id": 9, "category_id": 2, "bbox": [0, 0, 4, 4]},
        ],
    }
    (shared.root / "photos/annotations.json").write_text(json.dumps(labels))
    result = shared.done("model=boxes", "inputs=photos", *RUN)
    # The cat shares 0.66 with its label, which is enough for 4 of the 10 limits. One dog of two is found: 51 of the 101 recalls.
    assert "boxes has mAP 45.2 %, mAP at 0.5 75.2 % on the board: 2 inputs" in result.output
    assert "Flashed" not in result.output
    header = (folder / "network_app/n6_decoder.h").read_text()
    assert ".coding = N6_POST_CENTRE" in header
    assert '"dog",' in header


def test_areas_are_laid_over_a_picture_that_was_cropped(shared: Project) -> None:
    picture = Image.new("RGB", (400, 240), (255, 0, 0))
    # The input shows 320 pixels from the 40th on.
    picture.paste((0, 255, 0), (40, 0, 200, 120))
    picture.paste((0, 0, 255), (280, 120, 360, 240))
    picture.save(shared.root / "flag.png")
    result = shared.done("model=colours", "inputs=flag.png", *RUN)
    assert "Area red 62.5% of flag.png" in result.output
    assert "Area green 25.0% of flag.png" in result.output
    with Image.open(shared.root / "build/nucleo-n657/colours/boxes.png") as drawn:
        pixels = np.asarray(drawn)
    assert pixels.shape == (240, 400, 3)
    # Red is the first class, which stays as it is; a class beside the input has no colour.
    assert tuple(pixels[200, 150]) == (255, 0, 0)
    assert tuple(pixels[60, 150]) != (0, 255, 0)
    assert tuple(pixels[200, 20]) == (255, 0, 0)


def test_inputs_without_pictures_have_boxes_in_pixels_of_the_input(shared: Project) -> None:
    (shared.root / "build/nucleo-n657/boxes/boxes.png").unlink(missing_ok=True)
    result = shared.done("model=boxes", *RUN)
    assert " of input 0" in result.output or "nothing in input 0" in result.output
    assert not (shared.root / "build/nucleo-n657/boxes/boxes.png").exists()


def test_a_decoder_that_does_not_fit_ends_the_build_unless_it_is_waived(shared: Project) -> None:
    description = shared.root / "boxes/model.yaml"
    description.write_text(BOXES.replace("yolo_v8", "ssd"))
    result = shared.scons("model=boxes", *RUN).refused()
    assert "N6-CHECK-042" in result.output
    assert "decoder ssd needs 3 or 4 outputs, not 1; the outputs are" in result.output
    description.write_text(BOXES.replace("yolo_v8", "ssd") + "checks: {waive: {N6-CHECK-042: tried later}}\n")
    assert "Box" not in shared.done("model=boxes", *RUN).output
