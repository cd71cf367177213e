"""Unmodified applications of ST in real scons: camera=, display=, frames=."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import numpy as np
import pytest
from n6build.base.paths import ROOT
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFilter
from samples import sample

from end_to_end.conftest import Project, make_project

SENSOR = (2592, 1944)
SKIN, HAIR, CLOTH, LIPS = (224, 172, 140), (50, 30, 20), (60, 70, 120), (170, 60, 60)
# Centre and size of a drawn face; its ellipse is 1.6 times as wide and 2.2 times as high as its size.
FACES = [(1000, 800, 330), (1700, 900, 260)]
# The application shows the square in the middle of the sensor with 480 x 480 pixels, from column 160 of the panel on.
SHOWN, FROM = 480, 160


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = make_project(tmp_path_factory.mktemp("camera"))
    drawn().save(project.root / "faces.png")
    return project


def drawn() -> Image.Image:
    """Return a picture of two faces that ST's detector finds."""
    picture = Image.new("RGB", SENSOR, (120, 130, 125))
    draw = ImageDraw.Draw(picture)
    for x, y, size in FACES:

        def box(
            left: float, top: float, right: float, bottom: float, x: int = x, y: int = y, size: int = size
        ) -> list[float]:
            return [x + left * size, y + top * size, x + right * size, y + bottom * size]

        draw.ellipse(box(-1.5, 1.0, 1.5, 4.0), fill=CLOTH)
        draw.rectangle(box(-0.35, 0.8, 0.35, 1.5), fill=(200, 150, 120))
        draw.ellipse(box(-0.95, -1.35, 0.95, 0.7), fill=HAIR)
        draw.ellipse(box(-0.8, -1.1, 0.8, 1.1), fill=SKIN)
        for side in (-1, 1):
            eye = 0.35 * side
            draw.ellipse(box(eye - 0.18, -0.25, eye + 0.18, -0.05), fill=(250, 250, 250))
            draw.ellipse(box(eye - 0.09, -0.25, eye + 0.09, -0.05), fill=(40, 25, 15))
            draw.line(box(eye - 0.2, -0.38, eye + 0.2, -0.40), fill=HAIR, width=size // 14)
        draw.polygon(box(0, -0.1, -0.13, 0.35) + box(0.13, 0.35, 0, 0)[:2], fill=(200, 145, 115))
        draw.chord(box(-0.35, 0.45, 0.35, 0.75), 0, 180, fill=LIPS)
    return picture.filter(ImageFilter.GaussianBlur(9))


def face_on_panel(x: int, y: int, size: int) -> tuple[float, float, float, float]:
    left = (SENSOR[0] - SENSOR[1]) / 2
    scale = SHOWN / SENSOR[1]
    edges = (x - 0.8 * size - left, y - 1.1 * size, x + 0.8 * size - left, y + 1.1 * size)
    return tuple(edge * scale + FROM * (number % 2 == 0) for number, edge in enumerate(edges))  # type: ignore[return-value]


def green_box(panel: NDArray[np.uint8], left: int, right: int) -> tuple[float, float, float, float]:
    """Return the edges of the pixels in the colour of boxes, between two columns."""
    rows, columns = np.nonzero((panel[:, left:right] == (0, 255, 0)).all(-1))
    return float(columns.min() + left), float(rows.min()), float(columns.max() + left), float(rows.max())


def overlap(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """Return intersection over union of two boxes."""
    width, height = (min(one[side + 2], other[side + 2]) - max(one[side], other[side]) for side in (0, 1))
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (one, other)]
    both = max(width, 0) * max(height, 0)
    return both / (sum(areas) - both)


def test_an_application_as_shipped_draws_boxes_around_faces(built: Project) -> None:
    shipped = sample("boot/STM32N6570-DK_GettingStarted_FaceDetection.hex")
    given = ("board=stm32n6570-dk", f"fsbl={shipped}", f"appli={shipped}", "probe=virtual", "camera=faces.png")
    result = built.done(*given, "display=out", "frames=3", "flash", "run", "report")
    report = next((built.root / "build").rglob("report.html")).read_text()
    assert base64.b64encode((built.root / "out/contact-sheet.png").read_bytes()).decode() in report
    assert "Ended reached 3 pictures on the panel" in result.output
    assert "Camera" in result.output
    assert "as finished pixels, without the ISP" in result.output
    assert "; 0 findings, " in result.output
    folder = built.root / "out"
    # The third picture is the same as the second one.
    pictures = ["contact-sheet.png", "frame-0001.png", "frame-0002.png"]
    assert sorted(path.name for path in folder.iterdir()) == ["boxes.json", *pictures]
    panel = np.asarray(Image.open(folder / "frame-0002.png"))
    assert panel.shape == (480, 800, 3)
    for face, columns in zip(FACES, ((160, 420), (420, 640)), strict=True):
        assert overlap(green_box(panel, *columns), face_on_panel(*face)) > 0.6
    # The same boxes, as the program lets DMA2D draw them.
    boxes = [
        (box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"])
        for box in json.loads((folder / "boxes.json").read_text())[1]
    ]
    assert len(boxes) == 2
    assert result.output.count(" of the last picture") == 2
    for box, face in zip(sorted(boxes), FACES, strict=True):
        assert overlap(box, face_on_panel(*face)) > 0.6
    with Image.open(folder / "contact-sheet.png") as sheet:
        # 640 pixels of the camera, 480 of the network, 800 of the panel, with gaps.
        assert sheet.size == (640 + 480 + 800 + 2 * 8, 480)


@pytest.mark.slow
def test_another_application_reaches_its_loop(built: Project) -> None:
    folder = sample("projects/STM32N6-GettingStarted-ObjectDetection/Binary")
    given = (f"fsbl={folder}/ai_fsbl.hex", f"appli={folder}/STM32N6570-DK_GettingStarted_ObjectDetection.hex")
    options = ("board=stm32n6570-dk", "probe=virtual", "camera=pattern:colorbars", "display=bars", "until=frames:2")
    assert "Ended reached 2 pictures on the panel" in built.done(*given, *options, "flash", "run").output
    panel = np.asarray(Image.open(built.root / "bars" / "frame-0002.png"))
    # Bars at the left and the right of the square in the middle of the sensor: yellow, blue.
    assert tuple(panel[470, 165] > 128) == (True, True, False)
    assert tuple(panel[470, 635] > 128) == (False, False, True)


@pytest.mark.parametrize(
    ("board", "camera", "error"),
    [
        ("stm32n6570-dk", "nowhere.png", "N6-FILE-002"),
        ("stm32n6570-dk", "SConstruct", "N6-PICTURE-002"),
        ("stm32n6570-dk", "pattern:bars", "N6-CAMERA-002"),
        ("openmv-n6", "faces.png", "N6-CAMERA-001"),
    ],
)
def test_a_camera_that_cannot_be_is_an_error(built: Project, board: str, camera: str, error: str) -> None:
    program = Path(ROOT) / "tests/virtual_board/programs/says_hello.c"
    assert program.is_file()
    result = built.scons(
        f"board={board}", "model=keyword", "probe=virtual", f"camera={camera}", "frames=1", "flash", "run"
    ).refused()
    assert error in result.output
