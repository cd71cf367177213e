"""Post-processing of a network's outputs: the key `postprocess` in model.yaml."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from n6build.base.yaml_schema import Range

DecoderName = Literal["yolo_v8", "yolox", "ssd", "blazeface", "movenet", "classification", "segmentation"]
Activation = Literal["none", "sigmoid", "softmax"]
Share = Annotated[float, Range(0, 1)]
Count = Annotated[int, Range(1, 1000)]


@dataclass(frozen=True)
class Postprocess:
    """The way from the outputs of a network to boxes, points, classes or areas.

    Attributes:
        decoder: yolo_v8 has centres, sizes and scores in one output; yolox an output for each grid (st_yolo_x); ssd scores,
            offsets and anchors, or the four outputs of TFLite_Detection_PostProcess; blazeface faces with six points;
            movenet a heat map for each point, or points.
        score: Least score of a box, a point or a further class.
        overlap: Largest share that two boxes of a class have in common; of two with more, the better one stays.
        most: Largest number of boxes or classes.
        activation: Function that turns values into scores, if it is not part of the network. Default: that of the decoder.
        anchors: Width and height of the anchors of yolox, as shares of the picture.
        pixels: The boxes of yolo_v8 are in pixels of the input, not in shares of it.
    """

    decoder: DecoderName
    score: Share = 0.5
    overlap: Share = 0.5
    most: Count = 100
    activation: Activation | None = None
    anchors: tuple[tuple[float, ...], ...] = ()
    pixels: bool = False
