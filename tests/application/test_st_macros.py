"""Macros of ST's post-processing, as they follow from a network."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from n6build.base.errors import N6Error
from n6build.compile.artifacts.description import IoBuffer
from n6build.describe.postprocess import Postprocess
from n6build.judge.postprocess.st_macros import Constant, st_decoder
from n6build.steps.app_headers import Asked, check_buffers
from postprocess.decoder_cases import ANCHORS
from samples import sample

PICTURE = IoBuffer("picture", 0, 256 * 256 * 3, "uint8", (1, 256, 256, 3), 1 / 255, 0)


def output(*shape: int, type: str = "float32") -> IoBuffer:
    size = math.prod(shape) * np.dtype(type).itemsize
    return IoBuffer("out", 0, size, type, shape, 1.0 if type == "float32" else 0.005, -128 if type == "int8" else 0)  # type: ignore[arg-type]


def macros(asked: str, *outputs: IoBuffer, settings: Postprocess | None = None) -> dict[str, Constant]:
    return st_decoder(asked, settings, [PICTURE], outputs, ()).constants


def test_a_yolo_v8_has_its_boxes_and_thresholds() -> None:
    settings = Postprocess("yolo_v8", score=0.4, overlap=0.45, most=10)
    decoder = st_decoder("od_yolo_v8", settings, [PICTURE], [output(1, 84, 1344)], ())
    assert decoder.name == "od_yolo_v8_uf"
    assert len(decoder.classes) == 80
    assert decoder.constants == {
        "AI_OD_YOLOV8_PP_TOTAL_BOXES": 1344,
        "AI_OD_YOLOV8_PP_NB_CLASSES": 80,
        "AI_OD_YOLOV8_PP_CONF_THRESHOLD": 0.4,
        "AI_OD_YOLOV8_PP_IOU_THRESHOLD": 0.45,
        "AI_OD_YOLOV8_PP_MAX_BOXES_LIMIT": 10,
    }


def test_integers_have_their_scale() -> None:
    decoder = st_decoder("od_yolo_v8", None, [PICTURE], [output(1, 5, 1344, type="int8")], ["person"])
    assert decoder.name == "od_yolo_v8_ui"
    assert decoder.constants["AI_OD_YOLOV8_PP_ZERO_POINT"] == -128
    assert decoder.constants["AI_OD_YOLOV8_PP_SCALE"] == 0.005


def test_an_ssd_counts_its_background() -> None:
    decoder = st_decoder(
        "od_st_ssd", None, [PICTURE], [output(1, 20, 3), output(1, 20, 4), output(1, 20, 4)], ["a", "b"]
    )
    assert decoder.classes == ("background", "a", "b")
    assert decoder.constants["AI_OD_SSD_ST_PP_NB_CLASSES"] == 3
    assert decoder.constants["AI_OD_SSD_ST_PP_TOTAL_DETECTIONS"] == 20


def test_a_tiny_yolo_v2_has_one_grid() -> None:
    settings = Postprocess("yolox", anchors=((0.5, 0.25), (1.0, 0.125)))
    made = macros("od_yolo_v2", output(1, 7, 7, 12), settings=settings)
    assert made["AI_OD_YOLOV2_PP_ANCHORS"] == (3.5, 1.75, 7.0, 0.875)
    assert (made["AI_OD_YOLOV2_PP_NB_INPUT_BOXES"], made["AI_OD_YOLOV2_PP_NB_ANCHORS"]) == (49, 2)


def test_the_macros_of_st_are_found_for_its_own_network() -> None:
    project = sample("projects/STM32N6-GettingStarted-ObjectDetection")
    text = (project / "Application/STM32N6570-DK/Inc/app_config.h").read_text()
    numbers = dict(re.findall(r"#define (AI_OD_\w+) +\(([\d.]+)\)", text))
    arrays = dict(re.findall(r"float32_t (AI_OD_\w+)\[\S+\] = \{(.*)\};", text))
    outputs = [output(1, cells, cells, 18) for cells in (15, 60, 30)]
    made = macros("od_st_yolox", *outputs, settings=Postprocess("yolox", score=0.6, anchors=ANCHORS))
    assert len(numbers) == 11
    assert {name: made[name] for name in numbers} == {name: float(value) for name, value in numbers.items()}
    assert len(arrays) == 3
    for name, values in arrays.items():
        assert made[name] == pytest.approx([float(value) for value in values.split(",")], abs=1e-4)


def test_a_decoder_whose_macros_n6build_does_not_know_has_those_of_the_model() -> None:
    assert macros("spe_movenet", output(1, 48, 48, 13)) == {}


GRIDS = [output(1, cells, cells, 18) for cells in (15, 60, 30)]


@pytest.mark.parametrize(
    ("asked", "outputs", "settings", "message"),
    [
        ("od_yolo_v8_ui", [output(1, 5, 9)], None, "is for uint8 input and int8 output, but the network has uint8"),
        (
            "od_yolo_v5",
            [output(1, 5, 9)],
            None,
            "takes uint8 input and uint8 output, but the network has uint8 input, ",
        ),
        ("od_yolo_v8", [output(1, 9, 5)], Postprocess("yolo_v8"), "takes boxes in shares of the picture"),
        ("od_yolo_v8", [output(1, 5, 9)], Postprocess("yolo_v8", pixels=True), "takes boxes in shares of the picture"),
        (
            "od_yolo_v8",
            [output(1, 5, 9)],
            Postprocess("yolo_v8", activation="sigmoid"),
            "has scores with activation none",
        ),
        ("od_st_ssd", [output(1, 9, 4), output(1, 9, 2), output(1, 9, 4)], None, "takes scores, offsets and anchors"),
        (
            "od_st_ssd",
            [output(1, 9, 4), output(1, 9), output(1, 9), output(1)],
            None,
            "takes scores, offsets and anchors",
        ),
        (
            "od_st_yolox",
            GRIDS[::-1],
            Postprocess("yolox", anchors=ANCHORS),
            "takes the smallest grid, the largest, then",
        ),
        ("od_st_yolox", GRIDS[:2], Postprocess("yolox", anchors=ANCHORS), r"the network has \[15, 60\]"),
        ("od_yolo_v2", GRIDS[:2], Postprocess("yolox", anchors=ANCHORS), "takes one grid, not 2"),
        (
            "od_yolo_v2",
            [output(1, 18, 15, 15)],
            Postprocess("yolox", anchors=ANCHORS),
            "takes grids with their channels",
        ),
    ],
)
def test_a_network_that_the_code_of_st_cannot_decode_is_refused(
    asked: str, outputs: Sequence[IoBuffer], settings: Postprocess | None, message: str
) -> None:
    with pytest.raises(N6Error, match=f"N6-APP-012: application {asked}.* {message}"):
        macros(asked, *outputs, settings=settings)


def test_the_outputs_have_to_fit_the_decoder() -> None:
    with pytest.raises(N6Error, match="N6-CHECK-042: decoder ssd needs 3 or 4 outputs, not 1"):
        macros("od_st_ssd", output(1, 5, 9))


def test_the_camera_needs_a_network_of_bytes() -> None:
    with pytest.raises(N6Error, match="N6-APP-012: .* has int8 input, float32 output") as caught:
        st_decoder("od_yolo_v8", None, [replace(PICTURE, type="int8")], [output(1, 5, 9)], ())
    assert "the camera writes bytes" in str(caught.value)


def test_a_project_does_not_allocate_buffers_of_the_network() -> None:
    ports = [PICTURE, replace(output(1, 5, 9), own=True)]
    with pytest.raises(
        N6Error, match="N6-APP-015: Camera takes inputs and outputs from the network, but this one leaves"
    ):
        check_buffers(ports, Asked("od_yolo_v8", "Camera"))
    check_buffers(ports[:1], Asked("od_yolo_v8", "Camera"))
