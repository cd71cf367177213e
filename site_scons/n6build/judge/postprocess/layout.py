"""The place of boxes, scores and points in the outputs of a network.

A layout is the description of a decoder for one network. Python and C decode by it alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NoReturn

from n6build.base.errors import N6Error
from n6build.compile.artifacts.description import IoBuffer
from n6build.describe.postprocess import Activation, DecoderName, Postprocess

ID = "N6-CHECK-042"
# Numbers of a box; those of yolox have the objectness behind them.
BOX = 4
_OF_GRID = 5
# How a row becomes a box, or an output something else; firmware/postprocess has the same names.
Coding = Literal["centre", "grid", "corners", "offset", "edges", "heat", "points", "scores", "areas"]
_ACTIVATIONS: dict[DecoderName, Activation] = {"yolox": "softmax", "blazeface": "sigmoid"}
# Boxes of a cell in a grid of blazeface, the likeliest number first.
_BOXES_OF_CELL = (2, 6, 1)
# A blazeface with one output for both grids: 16 x 16 cells with two boxes, then 8 x 8 cells with six.
_BOTH_GRIDS, _FIRST_GRID = 896, 512
_LARGEST_GRID = 1024
_LARGEST_ANCHOR = 16.0
# A pixel's class is a byte in C.
_MOST_AREAS = 256


@dataclass(frozen=True)
class Table:
    """Rows and columns in an output.

    Attributes:
        output: Index of the output.
        first: Index of the first element.
        rows: Number of rows.
        columns: Number of columns.
        row_step: Elements from a row to the next.
        column_step: Elements from a column to the next.
    """

    output: int
    first: int
    rows: int
    columns: int
    row_step: int
    column_step: int


@dataclass(frozen=True)
class Level:
    """Candidates of one grid, with a row for each.

    Attributes:
        boxes: Numbers of each box, then those of its points.
        scores: Scores of the classes.
        objectness: Factor of the scores before its sigmoid, or None.
        others: Anchors of each box (corners), or its class (edges); None if there are none.
        cells: Cells of the grid in a row, 0 without a grid.
        each: Boxes of a cell.
        anchor: Width and height of the anchor in a grid.
    """

    boxes: Table
    scores: Table
    objectness: Table | None = None
    others: Table | None = None
    cells: int = 0
    each: int = 1
    anchor: tuple[float, float] = (1.0, 1.0)


@dataclass(frozen=True)
class Layout:
    """The description of a decoder for one network.

    Attributes:
        settings: Settings of model.yaml.
        coding: How a row becomes a box.
        activation: Function of the scores.
        outputs: Outputs of the network.
        levels: Candidates. A decoder without boxes has one level, whose scores are all that counts.
        names: Names of the classes, or of the points of a pose.
        points: Points of each box.
        scale: Factors for the numbers of a box in x and y.
        size: Width and height of the input.
        area: Width and height of heat maps and areas.
    """

    settings: Postprocess
    coding: Coding
    activation: Activation
    outputs: tuple[IoBuffer, ...]
    levels: tuple[Level, ...]
    names: tuple[str, ...]
    points: int = 0
    scale: tuple[float, float] = (1.0, 1.0)
    size: tuple[int, int] = (1, 1)
    area: tuple[int, int] = (1, 1)


@dataclass(frozen=True)
class _Given:
    settings: Postprocess
    outputs: tuple[IoBuffer, ...]
    classes: tuple[str, ...]
    size: tuple[int, int]

    def refuse(self, what: str, hint: str) -> NoReturn:
        shapes = ", ".join(f"{each.name} {' x '.join(map(str, each.shape))}" for each in self.outputs)
        what = f"decoder {self.settings.decoder} {what}; the outputs are {shapes}"
        raise N6Error(ID, what, where="postprocess.decoder in model.yaml", hint=hint)

    def named(self, count: int) -> tuple[str, ...]:
        """Return a name for each class."""
        if self.classes and len(self.classes) != count:
            what = f"finds {count} classes, but model.yaml names {len(self.classes)}"
            self.refuse(what, "correct classes: they are in the order of the network, without its background")
        return self.classes or tuple(f"class {number}" for number in range(count))

    def made(self, coding: Coding, levels: Sequence[Level], names: tuple[str, ...]) -> Layout:
        settings = self.settings
        activation = settings.activation or _ACTIVATIONS.get(settings.decoder, "none")
        return Layout(settings, coding, activation, self.outputs, tuple(levels), names, size=self.size)


def layout_of(
    settings: Postprocess, inputs: Sequence[IoBuffer], outputs: Sequence[IoBuffer], classes: Sequence[str]
) -> Layout:
    """Return the layout of a network's outputs.

    Args:
        settings: Settings of model.yaml.
        inputs: Inputs of the network; the first one is the picture.
        outputs: Outputs of the network.
        classes: Names of the classes, or empty.

    Raises:
        N6Error: N6-CHECK-042 if the outputs do not fit the decoder.
    """
    given = _Given(settings, tuple(outputs), tuple(classes), _size(inputs))
    odd = next((each for each in outputs if each.type not in _TYPES or not 0 < math.prod(each.shape) < _MOST), None)
    if odd:
        given.refuse(f"takes no output of type {odd.type}, or of this size", f"take outputs of {', '.join(_TYPES)}")
    wanted = _OUTPUTS[settings.decoder]
    if len(outputs) not in wanted:
        shown = " or ".join(map(str, wanted)) if len(wanted) < BOX else f"{wanted[0]} to {wanted[-1]}"
        given.refuse(f"needs {shown} outputs, not {len(outputs)}", "choose the decoder that fits the network")
    return _LAYOUTS[settings.decoder](given)


def _size(inputs: Sequence[IoBuffer]) -> tuple[int, int]:
    """Return width and height of a picture as input; (1, 1) for another input."""
    shape = _plain(inputs[0]) if inputs else ()
    if len(shape) == 3 and shape[0] in (1, 3) and shape[2] not in (1, 3):
        return shape[2], shape[1]
    return (shape[1], shape[0]) if len(shape) in (2, 3) else (1, 1)


def _plain(port: IoBuffer) -> tuple[int, ...]:
    """Return a shape without its batch."""
    return port.shape[1:] if len(port.shape) > 1 and port.shape[0] == 1 else port.shape


def _squeezed(port: IoBuffer) -> tuple[int, ...]:
    return tuple(size for size in port.shape if size != 1)


def _rows(output: int, rows: int, columns: int, first: int = 0, step: int = 0) -> Table:
    """Return a table whose columns are next to each other."""
    return Table(output, first, rows, columns, step or columns, 1)


def _yolo_v8(given: _Given) -> Layout:
    shape = _squeezed(given.outputs[0])
    channels = BOX + len(given.classes) if given.classes else min(shape, default=0)
    if len(shape) != 2 or channels not in shape or channels <= BOX:
        wanted = f"{channels}" if given.classes else "at least 5"
        given.refuse(f"needs one output of {wanted} x boxes", "export the network with one output, without suppression")
    first = shape[0] == channels
    rows = shape[1] if first else shape[0]
    steps = (1, rows) if first else (channels, 1)
    boxes = Table(0, 0, rows, BOX, *steps)
    scores = Table(0, BOX * steps[1], rows, channels - BOX, *steps)
    made = given.made("centre", [Level(boxes, scores)], given.named(channels - BOX))
    scale = (1.0 / given.size[0], 1.0 / given.size[1]) if given.settings.pixels else (1.0, 1.0)
    return replace(made, scale=scale)


def _yolox(given: _Given) -> Layout:
    anchors = given.settings.anchors
    if not anchors or any(len(each) != 2 or not all(0 < size <= _LARGEST_ANCHOR for size in each) for each in anchors):
        hint = "for example anchors: [[0.5, 0.5], [0.07, 0.25], [0.23, 0.7]]"
        given.refuse("needs a width and a height for each of its anchors", hint)
    levels: list[Level] = []
    classes = 0
    for number, output in enumerate(given.outputs):
        shape = _plain(output)
        last = len(shape) == 3 and shape[0] == shape[1]
        cells = shape[0] if last else shape[-1]
        channels = shape[-1] if last else shape[0]
        each = channels // len(anchors)
        square = len(shape) == 3 and (last or shape[1] == shape[2]) and cells <= _LARGEST_GRID
        if not square or channels % len(anchors) or each <= _OF_GRID or classes not in (0, each - _OF_GRID):
            what = f"needs square grids with {len(anchors)} x (5 + classes) channels, one for each anchor"
            given.refuse(what, "list as many anchors as a cell has")
        classes = each - _OF_GRID
        count = cells * cells
        for place, (width, height) in enumerate(anchors):
            first, steps = (place * each, (channels, 1)) if last else (place * each * count, (1, count))
            boxes, scores, objectness = (
                Table(number, first + column * steps[1], count, columns, *steps)
                for column, columns in ((0, BOX), (_OF_GRID, classes), (BOX, 1))
            )
            levels.append(Level(boxes, scores, objectness, cells=cells, anchor=(width, height)))
    return given.made("grid", levels, given.named(classes))


def _ssd(given: _Given) -> Layout:
    shapes = [_squeezed(each) for each in given.outputs]
    if len(shapes) == len(("boxes", "classes", "scores", "count")):
        return _detections(given)
    # Of three outputs the scores are the first, or the only one with another number of columns.
    odd = [number for number, shape in enumerate(shapes) if len(shape) == 2 and shape[1] != BOX]
    of_scores = odd[0] if len(odd) == 1 else 0
    of_boxes, of_anchors = (number for number in range(3) if number != of_scores)
    rows = {shape[0] if len(shape) == 2 else 0 for shape in shapes}
    columns = shapes[of_scores][1] if len(shapes[of_scores]) == 2 else 0
    if len(rows) != 1 or columns < 2 or any(shapes[each] != (*rows, BOX) for each in (of_boxes, of_anchors)):
        what = "needs scores (boxes x 1 + classes), offsets and anchors (boxes x 4 each), in this order"
        given.refuse(what, "export the network with its anchors as third output, or with TFLite_Detection_PostProcess")
    (count,) = rows
    # The first score is that of the background.
    scores = _rows(of_scores, count, columns - 1, 1, columns)
    level = Level(_rows(of_boxes, count, BOX), scores, others=_rows(of_anchors, count, BOX))
    return given.made("corners", [level], given.named(columns - 1))


def _detections(given: _Given) -> Layout:
    """Return the layout of the operator TFLite_Detection_PostProcess."""
    elements = [math.prod(each.shape) for each in given.outputs]
    count = elements[1]
    if elements != [BOX * count, count, count, 1]:
        given.refuse(
            "needs boxes x 4, classes, scores and a number", "keep the outputs of TFLite_Detection_PostProcess"
        )
    level = Level(_rows(0, count, BOX), _rows(2, count, 1), others=_rows(1, count, 1))
    return given.made("edges", [level], given.classes)


def _blazeface(given: _Given) -> Layout:
    shapes = [_plain(each) for each in given.outputs]
    columns = {shape[-1] for shape in shapes if shape[-1] >= BOX and len(_without_ones(shape)) == 2}
    boxes = {math.prod(shape[:-1]): number for number, shape in enumerate(shapes) if shape[-1] in columns}
    scores = {math.prod(shape): number for number, shape in enumerate(shapes) if number not in boxes.values()}
    fits = len(columns) == 1 and min(columns) % 2 == 0 and boxes.keys() == scores.keys()
    if not fits or 2 * len(boxes) != len(shapes):
        what = "needs scores and boxes (4 numbers, then those of points), of one or two grids"
        given.refuse(what, "choose the decoder that fits the network")
    (each,) = columns
    levels: list[Level] = []
    for count, number in sorted(boxes.items(), reverse=True):
        starts = ((0, _FIRST_GRID), (_FIRST_GRID, count)) if count == _BOTH_GRIDS else ((0, count),)
        for start, end in starts:
            rows = end - start
            cells, of_cell = _grid(rows) or given.refuse(
                f"finds no square grid with {rows} boxes", "choose the decoder that fits the network"
            )
            tables = _rows(number, rows, each, start * each), _rows(scores[count], rows, 1, start)
            levels.append(Level(*tables, cells=cells, each=of_cell))
    made = given.made("offset", levels, given.classes or ("face",))
    return replace(made, scale=(1.0 / given.size[0], 1.0 / given.size[1]), points=(each - BOX) // 2)


def _without_ones(shape: Sequence[int]) -> list[int]:
    return [size for size in shape if size != 1]


def _grid(rows: int) -> tuple[int, int] | None:
    """Return cells in a row and boxes of a cell for a number of boxes."""
    for each in _BOXES_OF_CELL:
        cells = math.isqrt(rows // each)
        if cells and cells * cells * each == rows:
            return cells, each
    return None


def _movenet(given: _Given) -> Layout:
    shape = _plain(given.outputs[0])
    if len(_without_ones(shape)) == 2 and shape[-1] == 3:
        count = math.prod(shape) // 3
        table = _rows(0, count, 3)
        return given.made("points", [Level(table, table)], given.named(count))
    if len(shape) != 3 or max(shape) > _LARGEST_GRID:
        given.refuse("needs heat maps (height x width x points), or points x 3", "choose the decoder that fits")
    first = shape[1] == shape[2] != shape[0]
    return _planes(given, shape, "heat", first=first)


def _classification(given: _Given) -> Layout:
    table = _rows(0, 1, math.prod(given.outputs[0].shape))
    return given.made("scores", [Level(table, table)], given.named(table.columns))


def _segmentation(given: _Given) -> Layout:
    shape = _plain(given.outputs[0])
    if len(shape) == 2:
        shape = (*shape, 1)
    if len(shape) != 3:
        given.refuse("needs one output of height x width x classes", "choose the decoder that fits the network")
    wanted = len(given.classes)
    first = shape[0] < shape[2] if wanted not in (shape[0], shape[2]) else shape[2] != wanted
    if shape[0 if first else 2] > _MOST_AREAS:
        given.refuse(f"finds at most {_MOST_AREAS} classes", "name the classes, in the order of the network")
    return _planes(given, shape, "areas", first=first)


def _planes(given: _Given, shape: Sequence[int], coding: Coding, *, first: bool) -> Layout:
    """Return the layout of an output with a plane for each class or point."""
    height, width, channels = (shape[1], shape[2], shape[0]) if first else (shape[0], shape[1], shape[2])
    pixels = height * width
    table = Table(0, 0, pixels, channels, *((1, pixels) if first else (channels, 1)))
    return replace(given.made(coding, [Level(table, table)], given.named(channels)), area=(width, height))


def area_names(layout: Layout) -> tuple[str, ...]:
    """Return the names of the classes of pixels; a single plane has a background, too."""
    return ("background", *layout.names) if layout.levels[0].scores.columns == 1 else layout.names


_LAYOUTS: dict[DecoderName, Callable[[_Given], Layout]] = {
    "yolo_v8": _yolo_v8,
    "yolox": _yolox,
    "ssd": _ssd,
    "blazeface": _blazeface,
    "movenet": _movenet,
    "classification": _classification,
    "segmentation": _segmentation,
}
# Numbers of outputs that a decoder takes.
_OUTPUTS: dict[DecoderName, tuple[int, ...]] = {
    "yolo_v8": (1,),
    "yolox": (1, 2, 3, 4, 5),
    "ssd": (3, 4),
    "blazeface": (2, 4),
    "movenet": (1,),
    "classification": (1,),
    "segmentation": (1,),
}
_TYPES = ("int8", "uint8", "float32")
_MOST = 1 << 26
