"""Networks whose outputs a decoder takes, and random outputs of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from n6build.compile.artifacts.description import IoBuffer, TensorType
from n6build.describe.postprocess import Postprocess
from n6build.judge.postprocess.layout import Layout, layout_of

ANCHORS = ((0.5, 0.5), (0.07, 0.25), (0.23, 0.7))
_BYTES = {"int8": 1, "uint8": 1, "float32": 4, "int16": 2}


def port(
    name: str, shape: tuple[int, ...], type: TensorType = "float32", scale: float = 1.0, zero_point: int = 0
) -> IoBuffer:
    return IoBuffer(name, None, math.prod(shape) * _BYTES[type], type, shape, scale, zero_point)


@dataclass(frozen=True)
class DecoderCase:
    """A network with a decoder.

    Attributes:
        size: Width and height of its input.
        spread: Deviation of random outputs in float32.
        middle: Mean of random outputs in float32.
    """

    settings: Postprocess
    outputs: tuple[IoBuffer, ...]
    classes: tuple[str, ...] = ()
    size: tuple[int, int] = (64, 48)
    spread: float = 0.3
    middle: float = 0.4
    inputs: tuple[IoBuffer, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "inputs", (port("picture", (1, self.size[1], self.size[0], 3)),))

    @property
    def layout(self) -> Layout:
        return layout_of(self.settings, self.inputs, self.outputs, self.classes)

    def random(self, seed: int) -> bytes:
        """Return random outputs, one after another."""
        rng = np.random.default_rng(seed)
        made = []
        for output in self.outputs:
            if output.type == "float32":
                made.append(rng.normal(self.middle, self.spread, output.shape).astype("<f4"))
            else:
                limits = np.iinfo(output.type)
                made.append(rng.integers(limits.min, limits.max + 1, output.shape).astype(output.type))
        return b"".join(each.tobytes() for each in made)


def _grids(classes: int, *cells: int, first: bool = False) -> tuple[IoBuffer, ...]:
    channels = len(ANCHORS) * (5 + classes)
    shapes = ((1, channels, each, each) if first else (1, each, each, channels) for each in cells)
    return tuple(port(f"grid{number}", shape) for number, shape in enumerate(shapes))


# Detections as TFLite_Detection_PostProcess makes them, and faces in one output for both grids.
_DETECTED = tuple(port(name, shape) for name, shape in (("b", (1, 10, 4)), ("c", (1, 10)), ("s", (1, 10)), ("n", (1,))))
_FACES = (port("regressors", (1, 896, 16)), port("classificators", (1, 896, 1)))
_OF_SSD = (port("scores", (1, 60, 3)), port("boxes", (1, 60, 4)), port("anchors", (1, 60, 4)))
CASES = {
    "yolo_v8": DecoderCase(Postprocess("yolo_v8"), (port("out", (1, 5, 120)),), ("person",)),
    "yolo_v8 int8, channels last": DecoderCase(
        Postprocess("yolo_v8", score=0.7, most=6), (port("out", (1, 120, 7), "int8", 1 / 255, -128),), ("a", "b", "c")
    ),
    "yolo_v8 uint8, channels first": DecoderCase(
        Postprocess("yolo_v8", score=0.7, most=6), (port("out", (1, 7, 117), "uint8", 1 / 255),), ("a", "b", "c")
    ),
    "yolo_v8 in pixels": DecoderCase(
        Postprocess("yolo_v8", pixels=True, activation="sigmoid"), (port("out", (1, 84, 200)),), spread=8.0, middle=4.0
    ),
    "yolox": DecoderCase(Postprocess("yolox", 0.6, anchors=ANCHORS), _grids(1, 4, 8, 2), ("person",), spread=1.5),
    "yolox, channels first": DecoderCase(
        Postprocess("yolox", 0.3, anchors=ANCHORS), _grids(4, 6, 3, first=True), spread=1.0
    ),
    "yolox uint8": DecoderCase(
        Postprocess("yolox", 0.6, anchors=ANCHORS[:2]), (port("g", (1, 5, 5, 14), "uint8", 0.04, 128),), ("a", "b")
    ),
    "ssd": DecoderCase(Postprocess("ssd", 0.6), _OF_SSD),
    "ssd logits": DecoderCase(Postprocess("ssd", 0.7, activation="softmax"), _OF_SSD, ("a", "b"), spread=2.0),
    "ssd with its operator": DecoderCase(Postprocess("ssd", 0.3), _DETECTED),
    "blazeface": DecoderCase(
        Postprocess("blazeface", 0.8, most=10),
        (
            port("s0", (1, 384, 1), "int8", 0.05, 0),
            port("s1", (1, 512, 1), "int8", 0.05, 0),
            port("b0", (1, 384, 16), "int8", 0.3, 5),
            port("b1", (1, 512, 16), "int8", 0.3, -5),
        ),
        size=(128, 128),
    ),
    "blazeface, both grids": DecoderCase(
        Postprocess("blazeface", 0.9), _FACES, size=(128, 128), spread=12.0, middle=0.0
    ),
    "movenet": DecoderCase(Postprocess("movenet"), (port("heat", (1, 12, 16, 13)),)),
    "movenet int8": DecoderCase(
        Postprocess("movenet", activation="sigmoid"), (port("h", (1, 17, 8, 8), "int8", 0.1, 3),)
    ),
    "movenet, points": DecoderCase(Postprocess("movenet"), (port("points", (1, 1, 17, 3)),)),
    "classification": DecoderCase(Postprocess("classification", 0.2, activation="softmax"), (port("out", (1, 9)),)),
    "classification int8": DecoderCase(
        Postprocess("classification", 0.9, most=4), (port("out", (1, 1, 1, 100), "int8", 1 / 256, -128),)
    ),
    "segmentation": DecoderCase(
        Postprocess("segmentation"), (port("out", (1, 2, 9, 11)),), ("background", "person"), size=(11, 9)
    ),
    "segmentation int8": DecoderCase(Postprocess("segmentation"), (port("out", (1, 8, 8, 3), "int8", 0.1, 0),)),
    "segmentation of one class": DecoderCase(
        Postprocess("segmentation", 0.7, activation="sigmoid"), (port("out", (1, 10, 6)),), ("road",), spread=2.0
    ),
}
