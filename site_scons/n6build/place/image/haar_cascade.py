"""OpenCV's Haar cascades in the binary form of OpenMV's firmware.

Both XML formats of OpenCV are supported. The binary form is:

    width, height, stages (int32) | weak classifiers of each stage (uint8), padded to 4
    | thresholds of stages (int16, x 256) | thresholds (int16, x 4096), left and right values (int16, x 256) of all classifiers
    | rectangles of each (uint8) | weights of all rectangles (int8) | x, y, width, height of all rectangles (uint8)

The firmware reads tilted features as upright ones, as OpenMV's own converter does.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as Xml

from n6build.base.errors import N6Error

# OpenCV's largest cascade has 1.3 MB.
MAX_BYTES = 16 << 20
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,3})?", re.ASCII)
# A node of the newer format has left and right leaf, index of the feature, and threshold.
_NODE_VALUES = 4
_RECT_VALUES = 5
_STAGE_SCALE, _FEATURE_SCALE = 256, 4096


@dataclass(frozen=True)
class _Classifier:
    """A feature with its threshold and two leaves.

    Attributes:
        rects: x, y, width, height and weight of each rectangle.
    """

    threshold: float
    left: float
    right: float
    rects: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class _Stage:
    threshold: float
    classifiers: tuple[_Classifier, ...]


def haar_cascade(data: bytes, stages: int, file: str) -> bytes:
    """Convert a cascade.

    Args:
        data: Content of the XML file.
        stages: Number of stages to keep, from the first; 0 keeps all.
        file: Name of the file, for messages.

    Raises:
        N6Error: N6-ROMFS-008 if the file is not such a cascade, or has a value that the binary form cannot hold.
    """
    try:
        size, found = _parse(data)
    except (Xml.ParseError, ValueError, RecursionError) as error:
        hint = "pass an XML file of OpenCV whose trees have one node each"
        raise N6Error("N6-ROMFS-008", f"is not a Haar cascade: {error}", where=file, hint=hint) from error
    if not 0 <= stages <= len(found):
        hint = f"request 0 (all) to {len(found)}"
        raise N6Error("N6-ROMFS-008", f"has {len(found)} stages, but {stages} are requested", where=file, hint=hint)
    try:
        return _packed(size, found[: stages or len(found)])
    except struct.error as error:
        what = f"has a value that OpenMV's binary form cannot hold: {error}"
        raise N6Error("N6-ROMFS-008", what, where=file) from error


def _packed(size: Sequence[int], stages: Sequence[_Stage]) -> bytes:
    features = [each for stage in stages for each in stage.classifiers]
    rects = [rect for each in features for rect in each.rects]
    head = struct.pack("<3i", *size, len(stages)) + _array("B", (len(stage.classifiers) for stage in stages))
    return b"".join(
        (
            head,
            bytes(-len(head) % 4),
            _array("h", (_scaled(stage.threshold, _STAGE_SCALE) for stage in stages)),
            _array("h", (_scaled(each.threshold, _FEATURE_SCALE) for each in features)),
            _array("h", (_scaled(each.left, _STAGE_SCALE) for each in features)),
            _array("h", (_scaled(each.right, _STAGE_SCALE) for each in features)),
            _array("B", (len(each.rects) for each in features)),
            _array("b", (rect[-1] for rect in rects)),
            _array("B", (value for rect in rects for value in rect[:-1])),
        )
    )


def _array(kind: str, values: Iterable[int]) -> bytes:
    """Pack values of one type of `struct`, with struct.error if one does not fit."""
    listed = list(values)
    return struct.pack(f"<{len(listed)}{kind}", *listed)


def _scaled(value: float, scale: int) -> int:
    """Return the scaled value, cut off as in OpenMV's converter."""
    return int(value * scale)


def _parse(data: bytes) -> tuple[tuple[int, int], list[_Stage]]:
    """Return the window size and the stages, with ValueError or ParseError if invalid."""
    if len(data) > MAX_BYTES:
        raise ValueError(f"it has {len(data)} bytes, more than {MAX_BYTES}")
    text = data.decode("utf-8-sig")
    # Reject document types: they define entities, which may expand without end.
    if "<!DOCTYPE" in text:
        raise ValueError("it has a document type")
    root = Xml.fromstring(text)
    cascade = next((each for each in root if each.find("stages") is not None), None)
    if cascade is None:
        raise ValueError("it has no stages")
    return _newer(cascade) if cascade.find("stageNum") is not None else _older(cascade)


def _older(cascade: Xml.Element) -> tuple[tuple[int, int], list[_Stage]]:
    """Read the older format, in which each tree has its own feature."""
    width, height = _integers(_one(cascade, "size"), 2)
    stages = []
    for stage in _one(cascade, "stages"):
        classifiers = []
        for tree in _one(stage, "trees"):
            (node,) = _list(tree, 1)
            threshold, left, right = (_number(_one(node, name).text) for name in ("threshold", "left_val", "right_val"))
            classifiers.append(_Classifier(threshold, left, right, _rects(_one(node, "feature"))))
        stages.append(_Stage(_number(_one(stage, "stage_threshold").text), tuple(classifiers)))
    return (width, height), stages


def _newer(cascade: Xml.Element) -> tuple[tuple[int, int], list[_Stage]]:
    """Read the newer format, in which trees name their features by index."""
    width, height = (_integers(_one(cascade, name), 1)[0] for name in ("width", "height"))
    features = [_rects(each) for each in _one(cascade, "features")]
    stages = []
    for stage in _one(cascade, "stages"):
        classifiers = []
        for weak in _one(stage, "weakClassifiers"):
            *_, feature, threshold = _numbers(_one(weak, "internalNodes"), _NODE_VALUES)
            left, right = _numbers(_one(weak, "leafValues"), 2)
            if not 0 <= feature < len(features):
                raise ValueError(f"a tree names feature {feature:g} of {len(features)}")
            classifiers.append(_Classifier(threshold, left, right, features[int(feature)]))
        stages.append(_Stage(_number(_one(stage, "stageThreshold").text), tuple(classifiers)))
    return (width, height), stages


def _rects(feature: Xml.Element) -> tuple[tuple[int, ...], ...]:
    return tuple(_integers(each, _RECT_VALUES) for each in _one(feature, "rects"))


def _one(element: Xml.Element, name: str) -> Xml.Element:
    found = element.find(name)
    if found is None:
        raise ValueError(f"<{element.tag}> has no <{name}>")
    return found


def _list(element: Xml.Element, count: int) -> list[Xml.Element]:
    found = list(element)
    if len(found) != count:
        raise ValueError(f"a tree has {len(found)} nodes, OpenMV's detector reads {count}")
    return found


def _number(text: str | None) -> float:
    stripped = (text or "").strip()
    if not _NUMBER.fullmatch(stripped):
        raise ValueError(f"'{stripped[:40]}' is not a number")
    value = float(stripped)
    if abs(value) > 1 << 31:
        raise ValueError(f"{stripped[:40]} is out of range")
    return value


def _numbers(element: Xml.Element, count: int) -> list[float]:
    values = [_number(each) for each in (element.text or "").split()]
    if len(values) != count:
        raise ValueError(f"<{element.tag}> has {len(values)} numbers, {count} are supported")
    return values


def _integers(element: Xml.Element, count: int) -> tuple[int, ...]:
    values = _numbers(element, count)
    if any(value != int(value) for value in values):
        raise ValueError(f"<{element.tag}> has a fraction")
    return tuple(map(int, values))
