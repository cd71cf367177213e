"""Boxes of a detector behind its scores and distances to anchors.

Operators:
    CUSTOM 'TFLite_Detection_PostProcess': boxes, classes and scores of the best detections, without those that overlap a better
        one, and their number. It is computed in float32; of equal scores, the first box comes first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from n6build.compile.reference.descriptors import Member, kernel_with, of_type, reads, writes
from n6build.compile.reference.kernel_call import KernelCall, Parameter, Scratch
from n6build.compile.reference.operands import Operands
from n6build.compile.reference.operator_kind import OperatorKind
from n6build.compile.reference.reference_options import CustomOptionsReader, DamagedError
from n6build.compile.reference.rules import CONVERT, FLOAT32, Problem, Rule, shown

KIND = "CUSTOM 'TFLite_Detection_PostProcess'"
_ANCHORS = 2
# Boxes of four numbers, class and score.
NUMBERS_EACH = 6
_FOUND_BYTES = 12
_MOST = 10_000

_KERNEL = kernel_with(
    "float_detections",
    *of_type(reads("float"), "boxes", "scores", "anchors"),
    Member("output", writes("float")),
    Member("scratch", writes("int8_t")),
    *of_type("uint32_t", "count", "box_size", "columns", "background", "classes", "places", "each", "of_class"),
    *of_type("float", "y_scale", "x_scale", "h_scale", "w_scale", "least_score", "most_overlap"),
    Member("by_class", "uint8_t", note="0 or 1"),
    doc="boxes [count][box_size]: y, x, height and width relative to anchors [count][4]; scores [count][columns], of which the "
    "first `background` are no classes. Output: `places` boxes, their classes, their scores, and the number of boxes. "
    "each: classes of a box. by_class: boxes of each class are compared for themselves, at most of_class of them.",
    definitions="""\
/* Bytes of scratch: a score for each box, the detections, and those of one class. */
#define N6K_FLOAT_DETECTIONS_SCRATCH(count, places, of_class) (4 * (count) + 12 * ((places) + (of_class)))
""",
)


@dataclass(frozen=True)
class DetectionOptions:
    """Options of the operator, as its file has them.

    Attributes:
        detections: Largest number of boxes.
        each: Classes that a box may have.
        of_class: Largest number of boxes of a class, if classes are compared for themselves.
        by_class: Whether boxes of each class are compared for themselves.
        least_score: Least score of a detection.
        most_overlap: Largest share of two boxes in common.
        classes: Number of classes.
        scales: Factors of y, x, height and width.
    """

    detections: int
    each: int
    of_class: int
    by_class: bool
    least_score: float
    most_overlap: float
    classes: int
    scales: tuple[float, float, float, float]

    @property
    def places(self) -> int:
        """Return the number of places for detections in the output."""
        return self.detections if self.by_class else self.detections * min(self.each, self.classes)


def _read(options: Any) -> DetectionOptions:
    try:
        read = DetectionOptions(
            detections=int(options["max_detections"]),
            each=int(options["max_classes_per_detection"]),
            of_class=int(options.get("detections_per_class", 100)),
            by_class=bool(options.get("use_regular_nms", False)),
            least_score=float(options["nms_score_threshold"]),
            most_overlap=float(options["nms_iou_threshold"]),
            classes=int(options["num_classes"]),
            scales=tuple(float(options[f"{name}_scale"]) for name in "yxhw"),  # type: ignore[arg-type]
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedError(f"options of {KIND} lack {error}") from error
    counts = (read.detections, read.each, read.of_class, read.classes)
    if min(counts) < 1 or max(counts) > _MOST or 0.0 in read.scales:
        raise DamagedError(f"options of {KIND} are out of range: {read}")
    return read


def _check(operands: Operands) -> Iterator[Problem]:
    options = operands.options(DetectionOptions)
    boxes, scores, anchors = operands.first, operands.required(1), operands.required(_ANCHORS)
    count = boxes.shape[-2] if len(boxes.shape) > 1 else 0
    fits = boxes.shape[-1] >= 4 and boxes.elements == count * boxes.shape[-1] and anchors.elements == 4 * count
    columns = scores.elements // count if count else 0
    if not fits or scores.elements != columns * count or columns not in (options.classes, options.classes + 1):
        what = f"tensors {shown(boxes)} {list(boxes.shape)}, {shown(scores)} {list(scores.shape)} and {shown(anchors)} "
        yield Problem("N6-NET-007", f"{what}{list(anchors.shape)} do not fit together", CONVERT)


def _lower(operands: Operands) -> KernelCall:
    options, boxes = operands.options(DetectionOptions), operands.first
    count = boxes.shape[-2]
    columns = operands.required(1).elements // count
    each = 1 if options.by_class else min(options.each, options.classes)
    of_class = max(options.of_class if options.by_class else options.detections, 1)
    scales = dict(zip(("y_scale", "x_scale", "h_scale", "w_scale"), options.scales, strict=True))
    return KernelCall(
        _KERNEL,
        {
            "boxes": boxes,
            "scores": operands.required(1),
            "anchors": Parameter(operands.required(_ANCHORS), "anchors"),
            "output": operands.output,
            "scratch": Scratch(
                4 * count + _FOUND_BYTES * (options.places + of_class),
                least=f"N6K_FLOAT_DETECTIONS_SCRATCH({count}, {options.places}, {of_class})",
            ),
            "count": count,
            "box_size": boxes.shape[-1],
            "columns": columns,
            "background": columns - options.classes,
            "classes": options.classes,
            "places": options.places,
            "each": each,
            "of_class": of_class,
            **scales,
            "least_score": options.least_score,
            "most_overlap": options.most_overlap,
            "by_class": int(options.by_class),
        },
    )


OPERATORS = (
    OperatorKind(
        name=KIND,
        label="FloatDetections",
        rule=Rule((FLOAT32, FLOAT32, FLOAT32), 3, (_ANCHORS,), FLOAT32, _check, first_may_be_constant=True),
        lower=_lower,
        kernels=(_KERNEL,),
        options=CustomOptionsReader(_read),
        several_outputs=True,
    ),
)
