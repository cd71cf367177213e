"""Decoders take the outputs of real networks of the samples."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from n6build.compile.artifacts.description import IoBuffer
from n6build.describe.postprocess import Postprocess
from n6build.judge.compare.interpret import ports_of, reference_rows
from n6build.judge.compare.tensors import Port
from n6build.judge.postprocess.decode import decode
from n6build.judge.postprocess.layout import layout_of
from samples import sample

from postprocess.decoder_cases import ANCHORS

YOLOX = "projects/STM32N6-GettingStarted-ObjectDetection/Model/st_yolo_x_nano_480_1.0_0.25_3_st_int8.tflite"
# File, decoder, classes, coding, candidates.
NETWORKS = {
    YOLOX: (Postprocess("yolox", anchors=ANCHORS), 1, "grid", 3 * (60 * 60 + 30 * 30 + 15 * 15)),
    "models/yolo11n_256_quant_pc_uf_od_coco-person-st.tflite": (Postprocess("yolo_v8"), 1, "centre", 1344),
    "models/yolov8n_int8.onnx": (Postprocess("yolo_v8", pixels=True), 80, "centre", 8400),
    "models/ssd_mobilenet_v2_fpnlite_035_256_int8.tflite": (Postprocess("ssd"), 1, "corners", 6820),
    "npu/fallguard-ssd-core-2.1/fall_guard_st_ssd_mobilenet_v1_256v2.tflite": (Postprocess("ssd"), 2, "corners", 6825),
    "npu/pose-movenet-core-2.1/st_movenet_lightning_heatmaps_192_int8_pc.tflite": (
        Postprocess("movenet"),
        13,
        "heat",
        48 * 48,
    ),
    "models/deeplab_v3_mobilenetv2_05_16_320_fft_qdq_int8.onnx": (Postprocess("segmentation"), 2, "areas", 320 * 320),
    "models/mobilenet_v2_224_int8.onnx": (Postprocess("classification", activation="softmax"), 1000, "scores", 1),
    "models/mlperf_resnet8_int8.tflite": (Postprocess("classification"), 10, "scores", 1),
}
# These take a second or less.
COMPUTED = [file for file in NETWORKS if file.endswith(".tflite") and "480" not in file]


def buffer_of(port: Port) -> IoBuffer:
    size = math.prod(port.shape) * np.dtype(port.type).itemsize
    return IoBuffer(port.name, None, size, port.type, tuple(port.shape), port.scale, port.zero_point)  # type: ignore[arg-type]


@pytest.mark.parametrize("file", NETWORKS)
def test_a_real_network_has_a_layout(file: str) -> None:
    settings, classes, coding, candidates = NETWORKS[file]
    takes, gives = ports_of(Path(sample(file)))
    layout = layout_of(settings, [*map(buffer_of, takes)], [*map(buffer_of, gives)], ())
    assert (layout.coding, len(layout.names)) == (coding, classes)
    assert sum(level.boxes.rows for level in layout.levels) == candidates


@pytest.mark.parametrize("file", COMPUTED)
def test_noise_is_nothing_for_a_detector(file: str) -> None:
    settings, *_ = NETWORKS[file]
    path = Path(sample(file))
    takes, gives = ports_of(path)
    noise = np.random.default_rng(3).integers(100, 140, takes[0].shape).astype(takes[0].type)
    (made,) = reference_rows(path, [[noise]])
    layout = layout_of(settings, [*map(buffer_of, takes)], [*map(buffer_of, gives)], ())
    found = decode(layout, b"".join(np.ascontiguousarray(each).tobytes() for each in made))
    boxes = [one for one in found.found if one.width]
    assert not boxes
    assert all(point.score < 0.9 for one in found.found for point in one.points)
