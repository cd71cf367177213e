"""A new project of the camera template shows the boxes that it prints."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from n6build.__main__ import main
from n6build.compile.artifacts.description import IoBuffer
from n6build.describe.postprocess import Postprocess
from n6build.judge.postprocess.decode import decode, pixel_classes
from n6build.judge.postprocess.found import Found
from n6build.judge.postprocess.layout import layout_of
from numpy.typing import NDArray
from one_op_models import Quantisation, quantize, reshape
from PIL import Image
from virtual_board.test_pixels import Path_, expected, scaled

from end_to_end.hosts import NEWEST, Host, both_cmakes, steps_in
from end_to_end.test_camera import overlap

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


def values_of(boxes: Sequence[Sequence[int]]) -> NDArray[np.uint8]:
    """Return the network's picture with a box in every fifth column.

    A box has centre, size, and the scores of a cat and of a dog.
    """
    values = np.zeros((ROWS, BOXES), np.uint8)
    for number, box in enumerate(boxes):
        values[:, 5 * number + 2] = box
    return values


CAT, DOG = (128, 128, 51, 102, 230, 0), (64, 191, 51, 102, 0, 204)


def draw_scene(path: Path, values: NDArray[np.uint8]) -> None:
    """Draw a picture of the sensor's size with the network's picture in the middle."""
    path.parent.mkdir(exist_ok=True)
    middle = np.kron(values, np.ones((SIDE, SIDE), np.uint8))
    picture = np.zeros((1944, 2592), np.uint8)
    top = (1944 - ROWS * SIDE) // 2
    picture[top : top + ROWS * SIDE] = middle
    Image.fromarray(picture).convert("RGB").save(path, compress_level=1)


def made_project(tmp_path: Path, kind: str) -> tuple[Host, str]:
    """Return a new project, and the output of the command that made it."""
    host = Host(tmp_path, "make")
    shutil.rmtree(host.root)
    host.root.mkdir()
    model = tmp_path / "boxes"
    if not model.exists():
        make_model(model)
    words = ("new", ".", str(model), f"board={BOARD}", "--template", "camera", "--with", kind)
    return host, host.call("n6build", *words)


def printed_frames(output: str) -> list[list[dict[str, Any]]]:
    """Return the things in each picture, as the program has printed them."""
    lines = [json.loads(line.split("Console ", 1)[1]) for line in output.splitlines() if 'Console {"frame"' in line]
    assert [each["frame"] for each in lines] == list(range(1, len(lines) + 1))
    return [each["found"] for each in lines]


def numbers(thing: Mapping[str, Any]) -> list[float]:
    return [thing[key] for key in ("score", "left", "top", "right", "bottom")]


def on_panel(left: float, top: float, right: float, bottom: float) -> tuple[int, int, int, int]:
    """Return the edges of a box in pixels of the panel."""
    return LEFT + int(left * 480), TOP + int(top * LINES), LEFT + int(right * 480), TOP + int(bottom * LINES)


def drawn_boxes(host: Host) -> list[list[tuple[int, int, int, int]]]:
    """Return the boxes of each picture on the panel."""
    frames = json.loads((host.root / "out/boxes.json").read_text())
    return [
        [(box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]) for box in boxes] for boxes in frames
    ]


def check_boxes(found: Sequence[Mapping[str, Any]], drawn: Sequence[tuple[int, int, int, int]]) -> None:
    """Check that a cat and a dog were printed and drawn."""
    assert [each["class"] for each in found] == ["cat", "dog"]
    # The downsize loses up to two parts in a hundred of the brightness, and with it of each number.
    assert numbers(found[0]) == pytest.approx([0.90, 0.40, 0.30, 0.60, 0.70], abs=0.03)
    assert numbers(found[1]) == pytest.approx([0.80, 0.15, 0.55, 0.35, 0.95], abs=0.03)
    assert len(drawn) == len(found)
    for each, box in zip(found, drawn, strict=True):
        assert overlap(on_panel(*numbers(each)[1:]), box) > 0.9


def test_it_prints_and_draws_what_the_network_finds(tmp_path: Path) -> None:
    host, printed = made_project(tmp_path, "scons")
    assert "scons n6.probe=virtual n6.camera=street.jpg n6.display=out n6.until=frames:3 flash run" in printed
    draw_scene(host.root / "street.png", values_of([CAT, DOG]))
    run = ["scons", "n6.probe=virtual", "n6.camera=street.png", "n6.display=out", "n6.until=frames:3", "flash", "run"]
    output = host.call(*run)
    frames = printed_frames(output)
    assert len(frames) == 3
    found = frames[-1]
    check_boxes(found, drawn_boxes(host)[-1])
    # Nothing is wrong with the program, and nothing that it uses is missing.
    assert "Stored" not in output
    assert " warning" not in output.lower()
    # The program's ISP gives a sensor's raw pixels about the same brightness.
    raw = host.call(*run[:3], "n6.camera_format=raw", "n6.until=frames:1", "run")
    assert "street.png: raw pixels, for the ISP" in raw
    (developed,) = printed_frames(raw)
    assert [each["class"] for each in developed] == ["cat", "dog"]
    for each, other in zip(developed, found, strict=True):
        assert numbers(each) == pytest.approx(numbers(other), abs=0.04)
    lost = host.call(*run[:3], "n6.unplug=2", "n6.until=text:send", "run")
    assert "unplugged after frame 2" in lost
    assert 'Console {"frame": 1' in lost
    assert "app: no frame arrives: does the sensor send" in lost
    without = host.call("scons", "n6.probe=virtual", "n6.until=text:connector", "run")
    assert "app: no sensor answers on its bus: is the camera module in its connector" in without


def made_with_cmake(tmp_path: Path, cmake: Path, generator: str) -> Host:
    """Return a configured project of CMake with a picture of a cat and a dog."""
    host, printed = made_project(tmp_path, "cmake")
    assert "cmake --build build -t app_n6_run" in printed
    draw_scene(host.root / "street.jpg", values_of([CAT, DOG]))
    host.call(cmake, "--preset", "release", "-G", generator, host.cmake_package())
    return host


# In every run: tests/embed, with a fake n6build.
@pytest.mark.slow
def test_an_edit_of_the_decoder_compiles_with_make(tmp_path: Path) -> None:
    host, _ = made_project(tmp_path, "make")
    draw_scene(host.root / "street.jpg", values_of([CAT, DOG]))
    run = (
        "make",
        "-j2",
        "all",
        "n6-run",
        "N6_BOARD_OPTIONS=probe=virtual camera=street.jpg display=out until=frames:1",
    )
    check_boxes(printed_frames(host.call(*run))[-1], drawn_boxes(host)[-1])
    host.replace("model/boxes/model.yaml", "score: 0.6", "score: 0.85")
    output = host.call(*run)
    assert {"Header n6_decoder.h", "Header n6_made.h"} <= set(steps_in(output))
    assert "-o build/src/main.o" in output
    assert [each["class"] for each in printed_frames(output)[-1]] == ["cat"]
    assert host.status("make", "-q", "all")[0] == 0
    assert "-o build/" not in host.call("make", "all", "n6-build")
    host.replace("model/boxes/model.yaml", MODEL[MODEL.index("postprocess") :].replace("0.6", "0.85"), "")
    assert "n6_decoder.h: No such file" in host.refused("make", "all")
    # Two networks have headers of the same names.
    host.replace("model/boxes/model.yaml", "classes:", "postprocess: {decoder: yolo_v8}\nclasses:")
    shutil.copytree(host.root / "model/boxes", host.root / "model/other")
    host.replace("model/other/model.yaml", "name: boxes", "name: other")
    host.replace("Makefile", "model=model/boxes", "model=model/boxes,model/other")
    assert "n6_decoder.h: No such file" in host.refused("make", "all")
    main = host.root / "src/main.c"
    for name in ("decoder", "picture"):
        main.write_text(main.read_text().replace(f'"n6_{name}.h"', f'"boxes_app/n6_{name}.h"'))
    host.call("make", "all")


def test_with_cmake_it_prints_and_draws_the_same(tmp_path: Path) -> None:
    host = made_with_cmake(tmp_path, NEWEST, "Ninja")
    output = host.call(NEWEST, "--build", "build", "-t", "app_n6_run")
    check_boxes(printed_frames(output)[-1], drawn_boxes(host)[-1])
    assert "Stored" not in output


# In every run: tests/embed, with a fake n6build.
@pytest.mark.slow
@both_cmakes
@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
def test_an_edit_of_the_decoder_compiles_in_the_build_that_made_its_header(
    tmp_path: Path, cmake: Path, generator: str
) -> None:
    host = made_with_cmake(tmp_path, cmake, generator)
    build = (cmake, "--build", "build")
    host.call(*build)
    host.replace("model/boxes/model.yaml", "score: 0.6", "score: 0.85")
    output = host.call(*build, "-t", "app_n6_run")
    assert {"Header n6_decoder.h", "Header n6_made.h"} <= set(steps_in(output))
    assert [each["class"] for each in printed_frames(output)[-1]] == ["cat"]
    assert len(drawn_boxes(host)[-1]) == 1
    again = host.call(*build)
    assert steps_in(again) == []
    assert "Building C" not in again
    # The program must not compile with a header of the network before.
    host.replace("model/boxes/model.yaml", MODEL[MODEL.index("postprocess") :].replace("0.6", "0.85"), "")
    assert "n6_decoder.h: No such file" in host.refused(*build)


COLOURS = "name: colours\nfile: net.tflite\nclasses: [red, green, blue]\npostprocess: {decoder: segmentation}\n"
# The network gives the colours of its picture, as in test_postprocess.py. A place of its grid has 54 x 54 pixels of the sensor,
# and 10 x 10 of the window.
GRID, OF_SENSOR, OF_WINDOW = (36, 48), 54, 10
SCENE = np.array([(200, 40, 40), (40, 180, 60), (30, 60, 220)], np.uint8)
# Red is the first class: it has no colour. The others have those of main.c.
DRAWN = np.array([(0, 0, 0), (255, 0, 0), (0, 255, 255)], np.uint8)
ALPHA = np.array([0, 0x88 / 255, 0x88 / 255])


def test_with_make_areas_have_the_colours_of_the_classes_that_a_host_finds(tmp_path: Path) -> None:
    (tmp_path / "boxes").mkdir()
    net = quantize((1, *GRID, 3), np.uint8, np.int8, Quantisation(1 / 255, 0), Quantisation(1 / 255, -128))
    (tmp_path / "boxes/net.tflite").write_bytes(net)
    (tmp_path / "boxes/model.yaml").write_text(COLOURS)
    host, printed = made_project(tmp_path, "make")
    options = "N6_BOARD_OPTIONS=probe=virtual camera=street.jpg display=out until=frames:1"
    assert "make n6-run N6_BOARD_OPTIONS='probe=virtual camera=street.jpg display=out until=frames:3'" in printed
    scene = np.kron(np.random.default_rng(39).integers(0, 3, (6, 8)), np.ones((6, 6), np.int64))
    picture = np.kron(SCENE[scene], np.ones((OF_SENSOR, OF_SENSOR, 1), np.uint8))
    Image.fromarray(picture).save(host.root / "street.jpg", "png", compress_level=1)
    output = host.call("make", "-j2", "all", "n6-run", options)
    classes = classes_of(picture)
    counts = np.bincount(classes.ravel())
    wanted = [("red", "green", "blue")[number] for number in np.flatnonzero(counts)]
    found = printed_frames(output)[-1]
    assert [each["class"] for each in found] == wanted
    assert [each["share"] for each in found] == pytest.approx(counts[counts > 0] / classes.size, abs=0.001)
    check_areas(host.root / "out/frame-0001.png", classes)
    assert " warning" not in output.lower().replace("-werror", "")
    assert steps_in(host.call("make", "all", "n6-build")) == []


def classes_of(picture: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the classes that a host finds in a picture of the sensor."""
    height, width = GRID
    seen = expected(scaled(Path_(0, 0, 2592, 1944, 8, 8), width, height), picture)
    port = IoBuffer("picture", None, 3 * height * width, "int8", (1, *GRID, 3), 1 / 255, -128)
    layout = layout_of(Postprocess("segmentation"), [port], [port], ["red", "green", "blue"])
    return pixel_classes(layout, [seen / np.float32(255)]).reshape(GRID)


def check_areas(panel: Path, classes: NDArray[np.int64]) -> None:
    """Check that nearly all pixels of each class have its colour over the picture."""
    enlarged = np.kron(classes, np.ones((OF_WINDOW, OF_WINDOW), np.int64))
    mixed = (1 - ALPHA[:, np.newaxis]) * SCENE + ALPHA[:, np.newaxis] * DRAWN
    height, width = enlarged.shape
    with Image.open(panel) as shown:
        left, top = (shown.width - width) // 2, (shown.height - height) // 2
        pixels = np.asarray(shown.convert("RGB"))[top : top + height, left : left + width].astype(np.float64)
    # Five bits of red and blue, and the loss of the downsize.
    is_right = np.abs(pixels - mixed[enlarged]).max(axis=2) < 12
    for number in range(3):
        assert is_right[enlarged == number].mean() >= 0.95, number


def host_frames(scenes: Sequence[NDArray[np.uint8]]) -> list[tuple[Found, ...]]:
    """Return what a host finds in each scene.

    It uses the second implementation of DCMIPP, and the decoder in Python.
    """
    port = IoBuffer("picture", None, ROWS * BOXES, "int8", (1, ROWS, BOXES, 1), 1 / 255, -128)
    settings = Postprocess("yolo_v8", score=0.6)
    layout = layout_of(settings, [port], [replace(port, shape=(1, ROWS, BOXES))], ["cat", "dog"])
    path = scaled(Path_(0, 0, BOXES * SIDE, ROWS * SIDE, 8, 8), BOXES, ROWS)
    frames = []
    for values in scenes:
        picture = np.kron(values, np.ones((SIDE, SIDE), np.uint8))[..., np.newaxis].repeat(3, axis=2)
        seen = expected(path, picture)[..., 0].astype(np.int16) - 128
        frames.append(decode(layout, seen.astype(np.int8).tobytes()).found)
    return frames


# In every run: the test above, with one scene.
@pytest.mark.slow
def test_fifty_pictures_show_the_boxes_that_a_host_finds(tmp_path: Path) -> None:
    host, _ = made_project(tmp_path, "scons")
    random = np.random.default_rng(38)
    scenes = []
    for number in range(50):
        boxes = [
            (
                *random.integers(64, 192, 2),
                *random.integers(60, 120, 2),
                *random.permutation([int(random.integers(170, 255)), 0]),
            )
            for _ in range(random.integers(1, 5))
        ]
        scenes.append(values_of(boxes))
        draw_scene(host.root / f"scenes/{number:02}.png", scenes[-1])
    wanted = host_frames(scenes)
    run = ("n6.probe=virtual", "n6.camera=scenes", "n6.display=out", "n6.until=frames:52", "flash", "run")
    frames, drawn = printed_frames(host.call("scons", *run)), drawn_boxes(host)
    seen = set()
    for found, boxes in zip(frames, drawn, strict=False):
        # Some frames of the camera come while the program computes.
        places = [numbers(each) for each in found]
        same = [number for number, things in enumerate(wanted) if is_same(places, things)]
        assert len(same) == 1, found
        seen.add(same[0])
        assert len(boxes) == len(found)
        for thing, box in zip(wanted[same[0]], boxes, strict=True):
            shown = on_panel(thing.x, thing.y, thing.x + thing.width, thing.y + thing.height)
            assert overlap(shown, box) > 0.95
    assert len(seen) >= 45


def is_same(places: Sequence[Sequence[float]], things: Sequence[Found]) -> bool:
    """Return whether printed numbers are those of the host, to their last digit."""
    edges = [[each.score, each.x, each.y, each.x + each.width, each.y + each.height] for each in things]
    return len(places) == len(edges) and np.allclose(places, edges, atol=0.001)


@pytest.mark.parametrize(
    ("words", "text", "description"),
    [
        (["board=nucleo-n657"], "NUCLEO-N657X0-Q has no camera and display in its board.yaml", MODEL),
        (
            ["board=nucleo-n657", "--with", "cmake"],
            "NUCLEO-N657X0-Q has no camera and display in its board.yaml",
            MODEL,
        ),
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
