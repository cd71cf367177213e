"""Mean average precision of boxes, against labels in the format of COCO."""

from __future__ import annotations

import contextlib
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from n6build.base.bounded import decode_json
from n6build.base.errors import N6Error, did_you_mean
from n6build.base.regular_file import content_of

_MOST_BOXES = 10_000_000


@dataclass(frozen=True)
class LabelledPicture:
    """A picture of the labels, as COCO has it."""

    id: int
    file_name: str


@dataclass(frozen=True)
class LabelledClass:
    """A class of the labels, as COCO has it."""

    id: int
    name: str


@dataclass(frozen=True)
class LabelledBox:
    """A box of the labels, as COCO has it.

    Attributes:
        bbox: Left edge, upper edge, width and height in pixels.
        iscrowd: 1 for a crowd, of which any part may be found.
    """

    image_id: int
    category_id: int
    bbox: tuple[float, float, float, float]
    iscrowd: int = 0


@dataclass(frozen=True)
class Labels:
    """All labels of a folder of pictures, as COCO has them."""

    images: tuple[LabelledPicture, ...]
    annotations: tuple[LabelledBox, ...]
    categories: tuple[LabelledClass, ...]


@dataclass(frozen=True)
class FoundBox:
    """A box that a network has found.

    Attributes:
        picture: Name of the picture's file.
        label: Name of its class.
        score: Score, 0 to 1.
        box: Left edge, upper edge, width and height in pixels of the picture.
    """

    picture: str
    label: str
    score: float
    box: tuple[float, float, float, float]


@dataclass(frozen=True)
class AveragePrecision:
    """Mean average precision in percent.

    Attributes:
        mean: Mean of the limits of overlap 0.50 to 0.95, as COCO has it.
        at_half: At an overlap of 0.50.
    """

    mean: float
    at_half: float


def average_precision(path: Path, found: Sequence[FoundBox], pictures: Sequence[str]) -> AveragePrecision:
    """Return the mean average precision of boxes, by pycocotools.

    Args:
        path: Labels of the pictures.
        found: Boxes that were found.
        pictures: Names of the pictures that were looked at.

    Raises:
        N6Error: N6-QUANT-012 if the labels are damaged, or do not fit the pictures.
    """
    from pycocotools.coco import COCO  # noqa: PLC0415 - planning measures nothing.
    from pycocotools.cocoeval import COCOeval  # noqa: PLC0415

    labels = _read(path)
    images = {Path(each.file_name).name: each.id for each in labels.images}
    lacking = sorted(set(pictures) - set(images))
    if lacking:
        what = f"has no picture '{lacking[0]}'" + (f", and lacks {len(lacking) - 1} more" if len(lacking) > 1 else "")
        raise N6Error("N6-QUANT-012", what, where=path.name, hint=did_you_mean(lacking[0], images))
    classes = {each.name.casefold(): each.id for each in labels.categories}
    unknown = sorted({each.label for each in found if each.label.casefold() not in classes})
    if unknown:
        hint = (
            f"use its names in classes of model.yaml: {', '.join(sorted(each.name for each in labels.categories)[:10])}"
        )
        raise N6Error(
            "N6-QUANT-012", f"has no class '{unknown[0]}', which the network finds", where=path.name, hint=hint
        )
    seen = {images[name] for name in pictures}
    # The library prints, and reads its files itself.
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = _as_coco(labels, seen)
        truth.createIndex()
        results = [
            {
                "image_id": images[each.picture],
                "category_id": classes[each.label.casefold()],
                "bbox": [*each.box],
                "score": each.score,
            }
            for each in found
        ]
        if not results:
            return AveragePrecision(0.0, 0.0)
        evaluation = COCOeval(truth, truth.loadRes(results), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    mean, at_half = (max(100 * float(each), 0.0) for each in evaluation.stats[:2])
    return AveragePrecision(mean, at_half)


def _read(path: Path) -> Labels:
    try:
        labels = decode_json(content_of(path), Labels)
    except ValueError as error:
        what = f"is not in the format of COCO's instances: {error}"
        hint = "give images (id, file_name), annotations (image_id, category_id, bbox) and categories (id, name)"
        raise N6Error("N6-QUANT-012", what, where=path.name, hint=hint) from error
    images, classes = {each.id for each in labels.images}, {each.id for each in labels.categories}
    for number, each in enumerate(labels.annotations):
        if each.image_id not in images or each.category_id not in classes:
            what = f"annotation {number} has image {each.image_id} and category {each.category_id}, one of which is missing"
            raise N6Error("N6-QUANT-012", what, where=path.name)
        if not all(map(math.isfinite, each.bbox)) or min(each.bbox[2:]) < 0:
            what = f"annotation {number} has the box {list(each.bbox)}: write x, y, width and height in pixels"
            raise N6Error("N6-QUANT-012", what, where=path.name)
    if (
        len(images) != len(labels.images)
        or len(classes) != len(labels.categories)
        or len(labels.annotations) > _MOST_BOXES
    ):
        raise N6Error("N6-QUANT-012", "has an id twice, or too many boxes", where=path.name)
    return labels


def _as_coco(labels: Labels, seen: set[int]) -> dict[str, Any]:
    """Return the labels of these pictures in the library's format."""
    boxes = [each for each in labels.annotations if each.image_id in seen]
    return {
        "images": [{"id": each.id} for each in labels.images if each.id in seen],
        "categories": [{"id": each.id, "name": each.name} for each in labels.categories],
        "annotations": [
            {
                "id": number,
                "image_id": each.image_id,
                "category_id": each.category_id,
                "bbox": [*each.bbox],
                "area": each.bbox[2] * each.bbox[3],
                "iscrowd": each.iscrowd,
            }
            for number, each in enumerate(boxes, 1)
        ],
    }
