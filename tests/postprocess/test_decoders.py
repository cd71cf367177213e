"""A decoder finds what is in the outputs, and refuses those of another network."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.base.files import to_json
from n6build.describe.postprocess import Postprocess
from n6build.describe.preprocess import Part, Preprocess
from n6build.judge.postprocess.decode import decode, decode_all
from n6build.judge.postprocess.found import Decoded, Found
from n6build.judge.postprocess.layout import layout_of
from PIL import Image, ImageOps

from postprocess.decoder_cases import ANCHORS, CASES, DecoderCase, port

Resize = Literal["crop", "fit", "stretch"]
CASE_NAMES = st.sampled_from(sorted(CASES))


def found_in(case: DecoderCase, *outputs: object) -> Decoded:
    return decode(case.layout, b"".join(np.asarray(each, "<f4").tobytes() for each in outputs))


def overlap(one: Found, other: Found) -> float:
    width = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
    height = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
    both = max(width, 0) * max(height, 0)
    return both / max(one.width * one.height + other.width * other.height - both, 1e-12)


def test_of_overlapping_boxes_of_a_class_the_best_one_stays() -> None:
    case = DecoderCase(Postprocess("yolo_v8"), (port("out", (1, 6, 5)),), ("cat", "dog"))
    boxes = [
        [0.5, 0.5, 0.2, 0.4],
        [0.52, 0.5, 0.2, 0.4],
        [0.5, 0.5, 0.2, 0.4],
        [0.1, 0.1, 0.2, 0.2],
        [0.9, 0.9, 0.1, 0.1],
    ]
    scores = [[0.7, 0], [0.9, 0], [0, 0.8], [0.6, 0], [0.4, 0]]
    found = found_in(case, np.concatenate([np.transpose(boxes), np.transpose(scores)])).found
    assert [(one.label, round(one.score, 3)) for one in found] == [("cat", 0.9), ("dog", 0.8), ("cat", 0.6)]
    assert (found[2].x, found[2].y) == (0, 0)
    assert found[1].width == pytest.approx(0.2)
    assert found[1].y == pytest.approx(0.3)


def test_a_cell_of_yolox_is_at_its_place_in_the_grid() -> None:
    case = DecoderCase(Postprocess("yolox", 0.6, anchors=ANCHORS), (port("grid", (1, 4, 4, 18)),), ("person",))
    grid = np.full((4, 4, 3, 6), -20.0)
    grid[1, 2, 1] = [0, 0, 0, math.log(2), 20, 0]
    (one,) = found_in(case, grid).found
    assert (one.x + one.width / 2, one.y + one.height / 2) == pytest.approx((2.5 / 4, 1.5 / 4))
    assert (one.width, one.height) == pytest.approx((0.07, 0.5))


def test_ssd_has_a_background_and_offsets_to_the_corners_of_anchors() -> None:
    case = DecoderCase(
        Postprocess("ssd"), (port("s", (1, 2, 3)), port("b", (1, 2, 4)), port("a", (1, 2, 4))), ("a", "b")
    )
    scores = [[0.9, 0.05, 0.05], [0.1, 0.2, 0.7]]
    offsets = [[0, 0, 0, 0], [0.5, 0, 0, -0.5]]
    (one,) = found_in(case, scores, offsets, [[0, 0, 1, 1], [0.2, 0.2, 0.6, 0.6]]).found
    assert one.label == "b"
    assert (one.x, one.y, one.width, one.height) == pytest.approx((0.4, 0.2, 0.2, 0.2))


def test_a_face_has_six_points() -> None:
    outputs = (port("s", (1, 512, 1)), port("b", (1, 512, 16)))
    case = DecoderCase(Postprocess("blazeface", 0.8), outputs, size=(128, 128))
    scores, boxes = np.full(512, -50.0), np.zeros((512, 16))
    # The second box of the cell in row 3, column 5.
    scores[2 * (3 * 16 + 5) + 1] = 50
    boxes[2 * (3 * 16 + 5) + 1] = [12.8, 0, 25.6, 32, 6.4, -6.4, *([0] * 10)]
    (one,) = found_in(case, scores, boxes).found
    assert one.label == "face"
    assert one.x + one.width / 2 == pytest.approx(5.5 / 16 + 0.1)
    assert one.height == pytest.approx(0.25)
    assert len(one.points) == 6
    assert (one.points[0].x, one.points[0].y) == pytest.approx((5.5 / 16 + 0.05, 3.5 / 16 - 0.05))


def test_a_point_of_a_pose_is_where_its_map_is_hottest() -> None:
    case = DecoderCase(Postprocess("movenet"), (port("heat", (1, 4, 8, 2)),), ("nose", "knee"))
    heat = np.zeros((4, 8, 2))
    heat[1, 6, 0], heat[3, 0, 1] = 0.75, 0.25
    (one,) = found_in(case, heat).found
    assert [(point.x, point.y, point.score) for point in one.points] == [
        (6.5 / 8, 1.5 / 4, 0.75),
        (0.5 / 8, 3.5 / 4, 0.25),
    ]
    assert one.score == 0.5


def test_an_area_has_the_share_of_its_pixels() -> None:
    case = DecoderCase(Postprocess("segmentation"), (port("out", (1, 2, 3, 4)),), ("ground", "person"))
    person = np.asarray([[0, 0, 1, 1], [0, 0, 1, 0], [0, 0, 0, 0]])
    found = found_in(case, [1 - person, person])
    assert [(one.label, one.score) for one in found.found] == [("ground", 0.75), ("person", 0.25)]
    assert found.mask == ((0, 2), (1, 2), (0, 2), (1, 1), (0, 5))
    assert found.area == (4, 3)


def test_the_best_class_is_told_even_below_the_least_score() -> None:
    case = DecoderCase(Postprocess("classification", 0.3), (port("out", (1, 3)),), ("a", "b", "c"))
    assert [one.label for one in found_in(case, [0.1, 0.2, 0.15]).found] == ["b"]
    assert [one.label for one in found_in(case, [0.4, 0.0, 0.6]).found] == ["c", "a"]


def test_incomplete_outputs_have_nothing() -> None:
    case = CASES["yolox"]
    whole = case.random(1)
    assert [len(each.found) > 0 for each in decode_all(case.layout, [whole, whole[:-1], b""])] == [True, False, False]


@given(CASE_NAMES, st.integers(0, 1 << 32), st.binary(max_size=64))
def test_any_outputs_are_decoded(name: str, seed: int, damage: bytes) -> None:
    """Whatever a board sends: numbers that are none, too."""
    case = CASES[name]
    data = bytearray(case.random(seed))
    start = seed % max(len(data) - len(damage), 1)
    data[start : start + len(damage)] = damage
    found = decode(case.layout, bytes(data[: sum(output.bytes for output in case.outputs)]))
    assert "NaN" not in to_json([vars(one) | {"points": len(one.points)} for one in found.found])
    boxes = [one for one in found.found if one.width and one.height]
    assert len(found.found) <= max(case.settings.most, len(case.layout.names))
    for one in found.found:
        assert 0 <= one.x <= 1
        assert 0 <= one.y <= 1
        assert one.x + one.width <= 1.000001
        assert all(abs(point.x) <= 16 and math.isfinite(point.score) for point in one.points)
    if case.layout.coding in ("corners", "centre", "grid") and not damage:
        inside = [one for one in boxes if min(one.x, one.y) > 0 and max(one.x + one.width, one.y + one.height) < 1]
        for place, one in enumerate(inside):
            others = [other for other in inside[:place] if other.label == one.label]
            assert all(overlap(one, other) <= case.settings.overlap + 1e-4 for other in others)
    scores = [one.score for one in boxes]
    assert scores == sorted(scores, reverse=True)


F3 = tuple(port(name, (1, 60, 4)) for name in "abc")
REFUSED = {
    "two outputs for yolo_v8": (Postprocess("yolo_v8"), (port("a", (1, 5, 9)),) * 2, (), "needs 1 outputs, not 2"),
    "no boxes": (Postprocess("yolo_v8"), (port("a", (1, 10)),), (), "needs one output of at least 5 x boxes"),
    "another number of classes": (
        Postprocess("yolo_v8"),
        (port("a", (1, 7, 99)),),
        ("a",),
        "needs one output of 5 x boxes",
    ),
    "no anchors": (
        Postprocess("yolox"),
        (port("a", (1, 4, 4, 18)),),
        (),
        "a width and a height for each of its anchors",
    ),
    "an anchor without a size": (
        Postprocess("yolox", anchors=((0.1, math.inf),)),
        (port("a", (1, 4, 4, 6)),),
        (),
        "a width and a height for each",
    ),
    "a grid that is not square": (
        Postprocess("yolox", anchors=ANCHORS),
        (port("a", (1, 4, 5, 18)),),
        (),
        "square grids with 3 x (5 + classes) channels",
    ),
    "grids of different classes": (
        Postprocess("yolox", anchors=ANCHORS),
        (port("a", (1, 4, 4, 18)), port("b", (1, 8, 8, 21))),
        (),
        "square grids with 3 x",
    ),
    "no scores": (Postprocess("ssd"), (F3[0], port("b", (1, 59, 4)), F3[2]), (), "needs scores (boxes x 1 + classes)"),
    "two outputs for ssd": (Postprocess("ssd"), F3[:2], (), "needs 3 or 4 outputs, not 2"),
    "four others": (Postprocess("ssd"), (*F3, F3[0]), (), "boxes x 4, classes, scores and a number"),
    "wrong names": (
        Postprocess("ssd"),
        (port("s", (1, 60, 3)), *F3[1:]),
        ("a", "b", "c"),
        "finds 2 classes, but model.yaml names 3",
    ),
    "faces without scores": (Postprocess("blazeface"), F3[:2], (), "needs scores and boxes"),
    "faces without a grid": (
        Postprocess("blazeface"),
        (port("s", (1, 500, 1)), port("b", (1, 500, 16))),
        (),
        "finds no square grid with 500 boxes",
    ),
    "no heat maps": (Postprocess("movenet"), (port("a", (1, 51)),), (), "needs heat maps"),
    "a pixel without a class": (Postprocess("segmentation"), (port("a", (1, 99)),), (), "height x width x classes"),
    "too many areas": (Postprocess("segmentation"), (port("a", (1, 8, 8, 300)),), ("x",) * 300, "at most 256 classes"),
    "a wider type": (Postprocess("classification"), (port("a", (1, 9), "int16"),), (), "no output of type int16"),
    "too many values": (Postprocess("classification"), (port("a", (1 << 14, 1 << 14)),), (), "or of this size"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_outputs_of_another_network_are_refused_by_name(name: str) -> None:
    settings, outputs, classes, what = REFUSED[name]
    with pytest.raises(N6Error, match="N6-CHECK-042") as raised:
        layout_of(settings, (port("picture", (1, 48, 64, 3)),), outputs, classes)
    assert what in raised.value.what
    assert outputs[0].name in raised.value.what
    assert raised.value.hint


@pytest.mark.parametrize("resize", ["crop", "fit", "stretch"])
@pytest.mark.parametrize("picture", [(640, 480), (300, 700), (64, 48)])
def test_the_part_of_a_picture_is_that_which_the_input_shows(resize: Resize, picture: tuple[int, int]) -> None:
    how = Preprocess(resize=resize)
    part = how.shown_part(picture, (64, 48))
    # A white square in the picture is at the place in the input that the part says.
    left, top, side = picture[0] // 2, picture[1] // 2, min(picture) // 4
    drawn = Image.new("L", picture)
    drawn.paste(255, (left, top, left + side, top + side))
    size = (64, 48)
    made = {
        "crop": lambda: ImageOps.fit(drawn, size),
        "fit": lambda: ImageOps.pad(drawn, size),
        "stretch": lambda: drawn.resize(size),
    }[resize]()
    rows, columns = np.nonzero(np.asarray(made) > 127)
    corners = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
    for number, corner in enumerate((left, top, left + side, top + side)):
        start, length, pixels = (part.left, part.width, 64) if number % 2 == 0 else (part.top, part.height, 48)
        assert (corner - start) / length * pixels == pytest.approx(corners[number], abs=1)
    assert isinstance(part, Part)
