"""A new project of the camera template shows the boxes that it prints."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from n6build.__main__ import main
from one_op_models import Quantisation, reshape
from PIL import Image

from end_to_end.hosts import Host

BOARD = "stm32n6570-dk"
# The pictures of this network are its boxes, as in test_postprocess.py.
ROWS, BOXES = 6, 54
MODEL = "name: boxes\nfile: net.tflite\nclasses: [cat, dog]\npostprocess: {decoder: yolo_v8, score: 0.6}\n"
# A value has 48 x 48 pixels of the sensor: eight to one, then six to one. The window in the middle of the panel has 480 pixels
# for all boxes, and for the rows a multiple of eight lines.
SIDE = 48
LINES, TOP, LEFT = 48, 216, 160


def make_model(folder: Path, description: str = MODEL) -> Path:
    folder.mkdir()
    (folder / "net.tflite").write_bytes(reshape((1, ROWS, BOXES, 1), (1, ROWS, BOXES), Quantisation(1 / 255, -128)))
    (folder / "model.yaml").write_text(description)
    return folder


def draw_scene(path: Path) -> None:
    """Draw a picture of the sensor's size, whose middle has a cat and a dog for the network."""
    values = np.zeros((ROWS, BOXES), np.uint8)
    values[:, 10] = [128, 128, 51, 102, 230, 0]
    values[:, 30] = [64, 191, 51, 102, 0, 204]
    middle = np.kron(values, np.ones((SIDE, SIDE), np.uint8))
    picture = np.zeros((1944, 2592), np.uint8)
    top = (1944 - ROWS * SIDE) // 2
    picture[top : top + ROWS * SIDE] = middle
    Image.fromarray(picture).convert("RGB").save(path)


def test_it_prints_and_draws_what_the_network_finds(tmp_path: Path) -> None:
    host = Host(tmp_path, "make")
    shutil.rmtree(host.root)
    host.root.mkdir()
    make_model(tmp_path / "boxes")
    printed = host.call("n6build", "new", ".", str(tmp_path / "boxes"), f"board={BOARD}", "--template", "camera")
    assert "scons n6.probe=virtual n6.camera=street.jpg n6.display=out n6.until=frames:3 flash run" in printed
    draw_scene(host.root / "street.png")
    run = ["scons", "n6.probe=virtual", "n6.camera=street.png", "n6.display=out", "n6.until=frames:3", "flash", "run"]
    output = host.call(*run)
    lines = [json.loads(line.split("Console ", 1)[1]) for line in output.splitlines() if 'Console {"frame"' in line]
    assert [each["frame"] for each in lines] == [1, 2, 3]
    found = lines[-1]["found"]
    assert [each["class"] for each in found] == ["cat", "dog"]
    # The downsize loses up to two parts in a hundred of the brightness, and with it of each number.
    places = [[each[key] for key in ("score", "left", "top", "right", "bottom")] for each in found]
    assert places[0] == pytest.approx([0.90, 0.40, 0.30, 0.60, 0.70], abs=0.03)
    assert places[1] == pytest.approx([0.80, 0.15, 0.55, 0.35, 0.95], abs=0.03)
    drawn = json.loads((host.root / "out/boxes.json").read_text())[-1]["boxes"]
    assert len(drawn) == len(found)
    for (_, left, top, right, bottom), box in zip(places, drawn, strict=True):
        shown = (box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"])
        expected = (LEFT + left * 480, TOP + top * LINES, LEFT + right * 480, TOP + bottom * LINES)
        assert shown == pytest.approx(expected, abs=1.5)
    # Nothing is wrong with the program, and nothing that it uses is missing.
    assert "Stored" not in output
    assert " warning" not in output.lower()
    without = host.call("scons", "n6.probe=virtual", "n6.until=text:app:", "run")
    assert "app: no sensor answers on its bus: is the camera module in its connector" in without


@pytest.mark.parametrize(
    ("words", "text", "description"),
    [
        (["board=nucleo-n657"], "NUCLEO-N657X0-Q has no camera and display in its board.yaml", MODEL),
        ([f"board={BOARD}", "--with", "make"], "template camera is for SCons", MODEL),
        ([f"board={BOARD}"], "model boxes has no postprocess", MODEL[: MODEL.index("postprocess")]),
    ],
)
def test_misfits_are_refused_before_anything_is_written(
    words: list[str],
    text: str,
    description: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    make_model(tmp_path / "boxes", description)
    assert main(["new", "app", "boxes", *words, "--template", "camera"]) == 2
    error = capsys.readouterr().err
    assert f"N6-NEW-002: {text}" in error
    assert not (tmp_path / "app").exists()
