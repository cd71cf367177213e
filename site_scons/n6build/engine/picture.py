"""A picture of a plan as SVG, light and dark, that loads nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from rich.cells import cell_len

from n6build.base import svg
from n6build.base.console import printable
from n6build.engine.boxes import Box, Edge, boxes_of, edges_of
from n6build.engine.layout import Layout, Point, layered
from n6build.engine.plan import Plan

State = Literal["planned", "ran", "partly-ran", "up-to-date"]

_MARGIN = 12.0
_LEGEND = 24.0
_LEGEND_WIDTH = 440.0
_HEIGHT = 42.0
_NARROWEST = 78.0
_PADDING = 10.0
# Approximate width of a letter in pixels: slightly more than in most fonts of browsers.
_BOLD, _PLAIN, _MONO = 7.3, 6.2, 6.5
_NAMES_IN_TIP = 16

# In a page, a style sheet applies everywhere: every rule is limited to this picture.
_STYLE = """
.n6-plan { color-scheme: light dark; --plan-paper: #ffffff; --plan-ink: #1c2330; --plan-quiet: #5b6577; --plan-line: #c6cdd9;
  --plan-box: #f4f6f9; --plan-ran: #1d4ed8; --plan-tint: #dbe7ff; --plan-arrow: #8b95a7; }
@media (prefers-color-scheme: dark) { .n6-plan { --plan-paper: #12161d; --plan-ink: #e6eaf1; --plan-quiet: #9aa5b8;
  --plan-line: #465265; --plan-box: #1a212b; --plan-ran: #7cb0ff; --plan-tint: #1c3258; --plan-arrow: #6d7a8f; } }
.n6-plan .paper { fill: var(--plan-paper); }
.n6-plan text { fill: var(--plan-ink); font: 11.5px system-ui, sans-serif; }
.n6-plan .verb { font-weight: 600; font-size: 12.5px; }
.n6-plan .name { font: 10.5px ui-monospace, monospace; }
.n6-plan .count, .n6-plan .legend { fill: var(--plan-quiet); }
.n6-plan .box rect { fill: var(--plan-box); stroke: var(--plan-line); }
.n6-plan .ran rect { fill: var(--plan-tint); stroke: var(--plan-ran); stroke-width: 2.5; }
.n6-plan .partly-ran rect { stroke: var(--plan-ran); stroke-width: 2; stroke-dasharray: 6 3; }
.n6-plan .edge { fill: none; stroke: var(--plan-arrow); stroke-width: 1.3; }
.n6-plan .after { stroke-width: 0.9; stroke-dasharray: 3 3; }
.n6-plan .tip { fill: var(--plan-arrow); }
.n6-plan .edge.ran { stroke: var(--plan-ran); stroke-width: 1.8; }
.n6-plan .tip.ran { fill: var(--plan-ran); }
"""


@dataclass(frozen=True)
class _Drawn:
    """A box of the picture.

    Attributes:
        box: Steps of the box.
        state: State of the box.
        ran: Number of its steps that this build has done.
    """

    box: Box
    state: State
    ran: int

    @property
    def verb(self) -> str:
        return printable(self.box.steps[0].verb)

    @property
    def name(self) -> str:
        return printable(self.box.label)

    @property
    def count(self) -> str:
        """Return the text beside the verb, which shows states without colours."""
        if self.state == "partly-ran":
            return f"{self.ran} of {len(self.box.steps)} ran"
        files = len(self.outputs)
        return ", ".join([f"{files} files"] * (files > 1) + ["ran"] * (self.state == "ran"))

    @property
    def outputs(self) -> list[str]:
        return [output for step in self.box.steps for output in step.outputs]

    @property
    def width(self) -> float:
        top = _BOLD * cell_len(self.verb) + _PLAIN * (len(self.count) + 2)
        return max(_NARROWEST, 2 * _PADDING + max(top, _MONO * cell_len(self.name)))


def plan_svg(plan: Plan, done: Collection[str] | None = None) -> str:
    """Return an element <svg>, for a file of its own or as part of a page.

    Args:
        plan: The steps to draw.
        done: Names of the steps that this build has done; None for a plan that has not been carried out.
    """
    boxes = boxes_of(plan)
    edges = edges_of(boxes)
    drawn = [_drawn(box, done) for box in boxes]
    layout = layered([each.width for each in drawn], [box.level for box in boxes], edges)
    width = max(layout.width, _LEGEND_WIDTH) + 2 * _MARGIN
    steps = f"{len(plan.steps)} steps"
    counted = steps if done is None else f"{sum(each.ran for each in drawn)} of {steps} ran"
    root = svg.picture(
        "n6-plan", width, layout.height + _LEGEND, f"{counted}; each box has a tooltip with the files", _STYLE
    )
    _draw_legend(root, counted)
    place = f"translate({svg.number((width - layout.width) / 2)} {svg.number(_LEGEND)})"
    _draw_plan(SubElement(root, "g", transform=place), drawn, edges, layout)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _drawn(box: Box, done: Collection[str] | None) -> _Drawn:
    if done is None:
        return _Drawn(box, "planned", 0)
    ran = sum(step.name in done for step in box.steps)
    return _Drawn(box, "up-to-date" if not ran else "ran" if ran == len(box.steps) else "partly-ran", ran)


def _draw_legend(root: Element, counted: str) -> None:
    svg.text(root, "legend", _MARGIN, 24, counted)
    for x, kind, meaning in ((150.0, "", "is made into"), (265.0, " after", "must exist first")):
        _draw_arrow(root, kind, f"M{x:.0f} 10 V25", (x, 25))
        svg.text(root, "legend", x + 10, 24, meaning)


def _draw_plan(parent: Element, drawn: Sequence[_Drawn], edges: Sequence[Edge], layout: Layout) -> None:
    """Draw arrows and boxes; arrows of steps that ran are drawn over others."""
    arrows = zip(
        [bool(drawn[edge.tail].ran and drawn[edge.head].ran) for edge in edges], edges, layout.ways, strict=True
    )
    for ran, edge, way in sorted(arrows, key=lambda arrow: arrow[0]):
        end_x, end_y = way[-1]
        _draw_arrow(parent, " after" * edge.after + " ran" * ran, _path(way), (end_x, end_y - _HEIGHT / 2))
    for each, (x, y) in zip(drawn, layout.centres, strict=True):
        _draw_box(parent, each, x - each.width / 2, y - _HEIGHT / 2)


def _path(way: Sequence[Point]) -> str:
    """Return a curve between rows.

    Through the row of other boxes it is straight, clear of them.
    """
    path = f"M{svg.number(way[0][0])} {svg.number(way[0][1])}"
    for (x, y), (next_x, next_y) in pairwise(way):
        half = (y + next_y) / 2
        numbers = (x, half, next_x, half, next_x, next_y - _HEIGHT / 2)
        path += f" V{svg.number(y + _HEIGHT / 2)} C{' '.join(map(svg.number, numbers))}"
    return path


def _draw_arrow(parent: Element, kind: str, path: str, end: Point) -> None:
    """Draw an arrow with its head.

    The name of a marker in place of the head could clash in a page with several pictures.
    """
    SubElement(parent, "path", {"class": f"edge{kind}", "d": path})
    tip = f"M{svg.number(end[0])} {svg.number(end[1])} l-3 -7 h6 Z"
    SubElement(parent, "path", {"class": f"tip{kind}", "d": tip})


def _draw_box(parent: Element, drawn: _Drawn, x: float, y: float) -> None:
    group = SubElement(parent, "g", {"class": f"box {drawn.state}"})
    names = drawn.outputs[:_NAMES_IN_TIP]
    more = [f"and {len(drawn.outputs) - _NAMES_IN_TIP} more"] if len(drawn.outputs) > _NAMES_IN_TIP else []
    heading = f"{drawn.verb}: {drawn.state.replace('-', ' ')}"
    SubElement(group, "title").text = "\n".join([heading, *map(printable, names), *more])
    svg.rect(group, "", x, y, drawn.width, _HEIGHT).set("rx", "6")
    top = svg.text(group, "", x + _PADDING, y + 17, "")
    SubElement(top, "tspan", {"class": "verb"}).text = drawn.verb
    if drawn.count:
        SubElement(top, "tspan", {"class": "count", "dx": "6"}).text = drawn.count
    svg.text(group, "name", x + _PADDING, y + 33, drawn.name)
