"""Models of the operator that detectors for TensorFlow Lite end with."""

from typing import Any

import numpy as np
from flatbuffers import flexbuffers
from one_op_models import Quantisation, Tensor, code_of, model_of, operator_of, packed


def anchors(count: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.uniform(0, 1, (count, 2)), rng.uniform(0.1, 0.5, (count, 2))], 1).astype(np.float32)


def post_process(
    count: int,
    classes: int,
    *,
    detections: int = 10,
    each: int = 1,
    by_class: bool = False,
    of_class: int = 100,
    background: bool = True,
    overlap: float = 0.5,
    least: float = 0.3,
    dtype: Any = np.float32,
) -> bytes:
    """Return a model of a TFLite_Detection_PostProcess.

    Args:
        count: Number of anchors.
        classes: Number of classes.
        detections: Largest number of boxes.
        each: Classes of a box.
        by_class: Whether classes are compared for themselves.
        of_class: Largest number of boxes of a class.
        background: Whether the first score is that of no class.
        overlap: Largest share in common.
        least: Least score.
        dtype: Type of boxes and scores.
    """
    real = dtype == np.float32
    scale_of_boxes, scale_of_scores = (None, None) if real else (Quantisation(0.05, 120), Quantisation(1 / 256, 0))
    of_anchors = Tensor("anchors", (count, 4), np.float32, None, anchors(count))
    if not real:
        steps = np.rint(anchors(count) * 200).astype(np.uint8)
        of_anchors = Tensor("anchors", (count, 4), np.uint8, Quantisation(1 / 200, 0), steps)
    places = detections * (1 if by_class else min(each, classes))
    tensors = [
        Tensor("boxes", (1, count, 4), dtype, scale_of_boxes),
        Tensor("scores", (1, count, classes + background), dtype, scale_of_scores),
        of_anchors,
        Tensor("found boxes", (1, places, 4), np.float32),
        Tensor("found classes", (1, places), np.float32),
        Tensor("found scores", (1, places), np.float32),
        Tensor("number", (1,), np.float32),
    ]
    options = {
        "max_detections": detections,
        "max_classes_per_detection": each,
        "detections_per_class": of_class,
        "use_regular_nms": by_class,
        "nms_score_threshold": least,
        "nms_iou_threshold": overlap,
        "num_classes": classes,
        **{f"{name}_scale": scale for name, scale in (("y", 10.0), ("x", 10.0), ("h", 5.0), ("w", 5.0))},
    }
    model = model_of(tensors)
    (graph,) = model.subgraphs
    code = code_of("CUSTOM", 1)
    code.customCode = b"TFLite_Detection_PostProcess"
    model.operatorCodes.append(code)
    operator = operator_of(0, range(3), range(3, 7), "")
    operator.customOptions = list(flexbuffers.Dumps(options))
    graph.operators.append(operator)
    graph.inputs, graph.outputs = [0, 1], [3, 4, 5, 6]
    return packed(model)
