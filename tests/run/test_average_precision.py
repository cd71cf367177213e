"""Mean average precision of boxes, and labels that do not fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from n6build.base.errors import N6Error
from n6build.judge.accuracy.boxes import FoundBox, average_precision

LABELS = {
    "info": {"year": 2026},
    "images": [{"id": 1, "file_name": "a.jpg", "width": 100, "height": 100}, {"id": 2, "file_name": "sub/b.jpg"}],
    "annotations": [
        {"id": 1, "image_id": 1, "category_id": 7, "bbox": [10, 10, 40, 40], "area": 1600, "segmentation": []},
        {"id": 2, "image_id": 2, "category_id": 7, "bbox": [20, 20, 40.5, 40]},
    ],
    "categories": [{"id": 7, "name": "Person", "supercategory": "animal"}],
}
BOTH = [FoundBox("a.jpg", "person", 0.9, (10, 10, 40, 40)), FoundBox("b.jpg", "person", 0.8, (20, 20, 40.5, 40))]


def labels(folder: Path, value: object = LABELS) -> Path:
    path = folder / "annotations.json"
    path.write_text(json.dumps(value))
    return path


@pytest.mark.parametrize(
    ("found", "pictures", "mean", "at_half"),
    [
        (BOTH, ["a.jpg", "b.jpg"], 100, 100),
        # Of the 101 recalls from 0 to 1, 51 are reached with one box of two.
        (BOTH[:1], ["a.jpg", "b.jpg"], 100 * 51 / 101, 100 * 51 / 101),
        # A picture that was not looked at does not count.
        (BOTH[:1], ["a.jpg"], 100, 100),
        # An overlap of 0.7 reaches 5 of the 10 limits.
        ([FoundBox("a.jpg", "person", 0.9, (10, 10, 40, 28.1))], ["a.jpg"], 50, 100),
        # A better score for a wrong place makes each right one half as precise.
        ([FoundBox("a.jpg", "person", 0.95, (60, 60, 9, 9)), BOTH[0]], ["a.jpg"], 50, 50),
        ([], ["a.jpg"], 0, 0),
    ],
)
def test_figures_are_those_of_coco(
    found: list[FoundBox], pictures: list[str], mean: float, at_half: float, tmp_path: Path
) -> None:
    figures = average_precision(labels(tmp_path), found, pictures)
    assert (figures.mean, figures.at_half) == pytest.approx((mean, at_half), abs=0.01)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"images": [{"id": 1, "file_name": "c.jpg"}, {"id": 2, "file_name": "b.jpg"}]}, "has no picture 'a.jpg'"),
        ({"images": [*LABELS["images"], {"id": 1, "file_name": "c.jpg"}]}, "has an id twice"),
        ({"categories": []}, "annotation 0 has image 1 and category 7, one of which is missing"),
        ({"categories": [{"id": 7, "name": "dog"}]}, "has no class 'person', which the network finds"),
        (
            {"annotations": [{"image_id": 1, "category_id": 7, "bbox": [1, 2, -3, 4]}]},
            "has the box [1.0, 2.0, -3.0, 4.0]",
        ),
        (
            {"annotations": [{"image_id": 1, "category_id": 7, "bbox": [1, 2, 3]}]},
            "is not in the format of COCO's instances",
        ),
        ({"annotations": None}, "is not in the format of COCO's instances"),
    ],
)
def test_labels_that_do_not_fit_are_named(change: dict[str, Any], text: str, tmp_path: Path) -> None:
    with pytest.raises(N6Error, match="N6-QUANT-012") as caught:
        average_precision(labels(tmp_path, LABELS | change), BOTH[:1], ["a.jpg"])
    assert text in str(caught.value)


@given(st.binary(max_size=200))
def test_no_bytes_end_in_a_traceback(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("labels") / "annotations.json"
    path.write_bytes(data)
    with pytest.raises(N6Error):
        average_precision(path, BOTH, ["a.jpg"])
