"""Boxes, points, classes and areas from the outputs of a network.

The arithmetic is in float32, as in firmware/postprocess. Exponentials of the two differ in the last bits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from n6build.judge.postprocess.found import Decoded, Found, Point
from n6build.judge.postprocess.layout import BOX, Layout, Level, Table, area_names

# Candidates that are compared with each other; the best ones, if there are more.
MOST_CANDIDATES = 512
Floats = NDArray[np.float32]
_TYPES = {"int8": "i1", "uint8": "u1", "float32": "<f4"}
_MOST_CLASSES = 65536
_FARTHEST = 16.0
_LEAST_AREA = np.float32(1e-12)


def decode_all(layout: Layout, inferences: Sequence[bytes]) -> tuple[Decoded, ...]:
    """Return the things found in each inference; incomplete outputs have none.

    Args:
        layout: Layout of the outputs.
        inferences: Outputs of each inference, one after another.
    """
    wanted = sum(port.bytes for port in layout.outputs)
    return tuple(decode(layout, data) if len(data) == wanted else Decoded((), layout.size) for data in inferences)


def decode(layout: Layout, data: bytes) -> Decoded:
    """Return the things that a network has found.

    Args:
        layout: Layout of its outputs.
        data: The outputs, one after another; as many bytes as the layout has.
    """
    outputs: list[Floats] = []
    start = 0
    for port in layout.outputs:
        values = np.frombuffer(data[start : start + port.bytes], _TYPES[port.type])
        real = values.astype(np.int32) - np.int32(port.zero_point) if port.type != "float32" else values
        scaled = real.astype(np.float32) * (np.float32(port.scale) if port.type != "float32" else np.float32(1))
        outputs.append(scaled)
        start += port.bytes
    # Values that are no numbers find nothing, without a warning.
    with np.errstate(all="ignore"):
        if layout.coding in ("heat", "points"):
            return Decoded((_pose(layout, outputs),), layout.size)
        if layout.coding == "scores":
            return Decoded(_classes(layout, outputs), layout.size)
        return _areas(layout, outputs) if layout.coding == "areas" else Decoded(_boxes(layout, outputs), layout.size)


def _values(table: Table, outputs: Sequence[Floats]) -> Floats:
    """Return a table as an array with a row for each of its rows."""
    rows = table.first + table.row_step * np.arange(table.rows)[:, None]
    found: Floats = outputs[table.output][rows + table.column_step * np.arange(table.columns)]
    return found


def _sigmoid(values: Floats) -> Floats:
    made: Floats = np.float32(1) / (np.float32(1) + np.exp(-values))
    return made


def _activated(layout: Layout, values: Floats) -> Floats:
    """Return scores behind their activation; the classes are the last axis."""
    if layout.activation == "sigmoid":
        return _sigmoid(values)
    if layout.activation == "softmax":
        raised = np.exp(values - values.max(-1, keepdims=True))
        made: Floats = raised / raised.sum(-1, keepdims=True, dtype=np.float32)
        return made
    return values


def _best(layout: Layout, values: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Return the class with the largest value in each row, and its score."""
    classes = values.argmax(-1)
    return classes, np.take_along_axis(_activated(layout, values), classes[:, None], -1)[:, 0]


def _boxes(layout: Layout, outputs: Sequence[Floats]) -> tuple[Found, ...]:
    of_levels = [_candidates(layout, level, outputs) for level in layout.levels]
    scores, classes, numbers = (np.concatenate(each) for each in zip(*of_levels, strict=True))
    good = np.flatnonzero(scores >= np.float32(layout.settings.score))
    # Of equal scores, the first candidate comes first.
    order = good[np.argsort(-scores[good], kind="stable")][:MOST_CANDIDATES]
    kept: list[int] = []
    for candidate in order:
        rivals = [other for other in kept if classes[other] == classes[candidate]]
        shared = _overlap(numbers[rivals, :BOX], numbers[candidate, :BOX])
        if len(kept) < layout.settings.most and not (shared > np.float32(layout.settings.overlap)).any():
            kept.append(int(candidate))
    return tuple(_found(layout, scores[each], int(classes[each]), numbers[each]) for each in kept)


def _candidates(layout: Layout, level: Level, outputs: Sequence[Floats]) -> tuple[Floats, NDArray[np.int64], Floats]:
    """Return score, class and numbers of each candidate.

    The numbers are left, top, right and bottom, then its points.
    """
    boxes = _values(level.boxes, outputs)
    classes, best = _best(layout, _values(level.scores, outputs))
    if level.objectness:
        best = best * _sigmoid(_values(level.objectness, outputs)[:, 0])
    scale = np.asarray(layout.scale, np.float32)
    if layout.coding == "edges":
        assert level.others is not None
        given = _values(level.others, outputs)[:, 0]
        valid = np.where((given > 0) & (given < _MOST_CLASSES), given + np.float32(0.5), np.float32(0))
        return best, valid.astype(np.int64), boxes[:, [1, 0, 3, 2]]
    if layout.coding == "corners":
        assert level.others is not None
        anchors = _values(level.others, outputs)
        sizes = anchors[:, 2:] - anchors[:, :2]
        return best, classes, (boxes * np.concatenate([sizes, sizes], 1) + anchors)
    middles, sizes = boxes[:, :2] * scale, boxes[:, 2:BOX] * scale
    if level.cells:
        cell = np.arange(level.boxes.rows) // level.each
        places = np.stack([cell % level.cells, cell // level.cells], 1).astype(np.float32)
        share = np.float32(1) / np.float32(level.cells)
    if layout.coding == "grid":
        middles = (places + _sigmoid(boxes[:, :2])) * share
        sizes = np.asarray(level.anchor, np.float32) * np.exp(boxes[:, 2:BOX])
    if layout.coding == "offset":
        centres = (places + np.float32(0.5)) * share
        middles = middles + centres
        points = boxes[:, BOX:] * np.tile(scale, layout.points) + np.tile(centres, layout.points)
    half = sizes * np.float32(0.5)
    parts = [middles - half, middles + half, *([points] if layout.points else [])]
    return best, classes, np.concatenate(parts, 1)


def _overlap(boxes: Floats, box: Floats) -> Floats:
    """Return the share in common of each box with another one.

    It is 0 for a box without an area.
    """
    sizes = np.minimum(boxes[:, 2:], box[2:]) - np.maximum(boxes[:, :2], box[:2])
    both = np.maximum(sizes, np.float32(0)).prod(-1)
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    own = (box[2] - box[0]) * (box[3] - box[1])
    of_both = areas + own - both
    made: Floats = np.where((areas > 0) & (own > 0), both / np.maximum(of_both, _LEAST_AREA), np.float32(0))
    return made


def _found(layout: Layout, score: np.float32, number: int, numbers: Floats) -> Found:
    left, top, right, bottom = (_between(each, 0, 1) for each in numbers[:BOX])
    points = tuple(Point(_place(x), _place(y)) for x, y in numbers[BOX:].reshape(-1, 2))
    return Found(_name(layout, number), _finite(score), left, top, right - left, bottom - top, points)


def _finite(value: np.float32) -> float:
    """Return a number for a page and for JSON, which have no infinity."""
    return float(value) if np.isfinite(value) else 0.0


def _between(value: np.float32, low: float, high: float) -> float:
    return min(max(float(value), low), high) if value > low else low


def _place(value: np.float32) -> float:
    """Return the place of a point, which may be outside the picture."""
    return _between(value, -_FARTHEST, _FARTHEST)


def _name(layout: Layout, number: int) -> str:
    return layout.names[number] if 0 <= number < len(layout.names) else f"class {number}"


def _pose(layout: Layout, outputs: Sequence[Floats]) -> Found:
    values = _values(layout.levels[0].scores, outputs)
    if layout.coding == "points":
        points = tuple(Point(_place(x), _place(y), _finite(score)) for y, x, score in values)
    else:
        width, height = layout.area
        best, scores = values.argmax(0), _activated(layout, values)
        points = tuple(
            Point((int(at) % width + 0.5) / width, (int(at) // width + 0.5) / height, _finite(scores[at, number]))
            for number, at in enumerate(best)
        )
    return Found("pose", sum(point.score for point in points) / len(points), points=points)


def _classes(layout: Layout, outputs: Sequence[Floats]) -> tuple[Found, ...]:
    values = _values(layout.levels[0].scores, outputs)
    (scores,) = _activated(layout, values)
    order = np.argsort(-values[0], kind="stable")[: layout.settings.most]
    return tuple(
        Found(_name(layout, int(each)), _finite(scores[each]))
        for place, each in enumerate(order)
        if place == 0 or scores[each] >= np.float32(layout.settings.score)
    )


def pixel_classes(layout: Layout, outputs: Sequence[NDArray[np.generic]]) -> NDArray[np.int64]:
    """Return the class of each pixel, row by row.

    A single plane has its class where its score is high enough.

    Args:
        layout: Layout of a decoder `segmentation`.
        outputs: Values of its outputs, as real numbers.
    """
    values = [np.asarray(each, np.float32).ravel() for each in outputs]
    classes, scores = _best(layout, _values(layout.levels[0].scores, values))
    if layout.levels[0].scores.columns > 1:
        return classes
    return (scores >= np.float32(layout.settings.score)).astype(np.int64)


def _areas(layout: Layout, outputs: Sequence[Floats]) -> Decoded:
    classes = pixel_classes(layout, outputs)
    starts = np.concatenate([[0], np.flatnonzero(np.diff(classes)) + 1])
    lengths = np.diff([*starts, len(classes)])
    mask = tuple((int(classes[start]), int(length)) for start, length in zip(starts, lengths, strict=True))
    counts = np.bincount(classes)
    names = area_names(layout)
    areas = [Found(names[each], int(counts[each]) / len(classes)) for each in np.flatnonzero(counts)]
    return Decoded(tuple(sorted(areas, key=lambda each: -each.score)), layout.size, layout.area, mask)
