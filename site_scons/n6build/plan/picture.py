"""A picture of a plan as SVG: without scripts, fonts or anything else from elsewhere; light and dark."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from n6build.base.console import printable
from n6build.plan.boxes import Box, Edge, boxes_of, edges_of
from n6build.plan.graphviz import dot_layout
from n6build.plan.layout import Layout, Point, layered
from n6build.plan.plan import Plan

State = Literal["planned", "ran", "partly ran", "up to date"]

_MARGIN = 12.0
_LEGEND = 34.0
_HEIGHT = 42.0
_NARROWEST = 78.0
_PADDING = 10.0
# Approximate width of a letter in pixels: slightly more than in most fonts of browsers.
_BOLD, _PLAIN, _MONO = 7.3, 6.2, 6.5
_MARK = 5.0
_NAMES_IN_TIP = 16
# With more boxes, Graphviz takes longer than anybody waits for.
_MOST_FOR_DOT = 250

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
.n6-plan .box rect, .n6-plan .sample rect { fill: var(--plan-box); stroke: var(--plan-line); }
.n6-plan .ran rect { fill: var(--plan-tint); stroke: var(--plan-ran); stroke-width: 2.5; }
.n6-plan .partly-ran rect { stroke: var(--plan-ran); stroke-width: 2; stroke-dasharray: 6 3; }
.n6-plan .mark { fill: none; stroke: var(--plan-ran); stroke-width: 1.5; }
.n6-plan .full { fill: var(--plan-ran); }
.n6-plan .edge { fill: none; stroke: var(--plan-arrow); stroke-width: 1.3; }
.n6-plan .after { stroke-width: 0.9; stroke-dasharray: 3 3; }
.n6-plan .tip { fill: var(--plan-arrow); }
.n6-plan .edge.ran { stroke: var(--plan-ran); stroke-width: 1.8; }
.n6-plan .tip.ran { fill: var(--plan-ran); }
"""


@dataclass(frozen=True)
class _Drawn:
    box: Box
    state: State
    ran: int

    @property
    def count(self) -> str:
        """The text beside the verb."""
        if self.state == "partly ran":
            return f"{self.ran} of {len(self.box.steps)} ran"
        return f"{self.box.files} files" if self.box.files > 1 else ""


def plan_svg(plan: Plan, done: Collection[str] | None = None, *, dot: str | None = None) -> str:
    """An element <svg>, for a file of its own or as part of a page.

    done: names of the steps that this build has done; None if that is not to be shown. dot: the program of Graphviz, as from
    `find_dot`; without it, or if it fails, the layout is our own.
    """
    boxes = boxes_of(plan)
    edges = edges_of(plan, boxes)
    drawn = [_drawn(box, done) for box in boxes]
    sizes = [(_width(each), _HEIGHT) for each in drawn]
    layout = dot_layout(dot, sizes, edges) if dot and 0 < len(boxes) <= _MOST_FOR_DOT else None
    return _svg(layout or layered(sizes, edges), drawn, sizes, edges)


def _drawn(box: Box, done: Collection[str] | None) -> _Drawn:
    if done is None:
        return _Drawn(box, "planned", 0)
    ran = sum(step.name in done for step in box.steps)
    state: State = "up to date" if not ran else "ran" if ran == len(box.steps) else "partly ran"
    return _Drawn(box, state, ran)


def _width(drawn: _Drawn) -> float:
    top = _BOLD * _columns(drawn.box.verb) + _PLAIN * (len(drawn.count) + 1) + 3 * _MARK
    return max(_NARROWEST, 2 * _PADDING + max(top, _MONO * _columns(drawn.box.label)))


def _columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in printable(text))


def _svg(layout: Layout, drawn: Sequence[_Drawn], sizes: Sequence[tuple[float, float]], edges: Sequence[Edge]) -> str:
    samples = _samples(drawn, edges)
    width = max(layout.width, _legend_width(samples)) + 2 * _MARGIN
    height = _MARGIN + _LEGEND + layout.height + _MARGIN
    size = {"width": _number(width), "height": _number(height)}
    root = Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "class": "n6-plan",
            **size,
            "viewBox": f"0 0 {size['width']} {size['height']}",
            # A page may shrink the picture to its own width, but not enlarge it.
            "style": f"--n6-plan-width: {size['width']}px",
            "role": "img",
            "aria-label": f"{_in_all(drawn)}; each box has a tip with the files",
        },
    )
    SubElement(root, "style").text = _STYLE
    SubElement(root, "rect", {"class": "paper", **size})
    _draw_legend(root, samples)
    # Centred if the legend is wider.
    left = (width - layout.width) / 2
    inside = SubElement(root, "g", transform=f"translate({_number(left)} {_number(_MARGIN + _LEGEND)})")
    _draw_edges(inside, drawn, edges, layout.curves)
    for each, centre, (box_width, box_height) in zip(drawn, layout.centres, sizes, strict=True):
        _draw_box(inside, each, (centre[0] - box_width / 2, centre[1] - box_height / 2), box_width)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _in_all(drawn: Sequence[_Drawn]) -> str:
    steps = sum(len(each.box.steps) for each in drawn)
    if any(each.state != "planned" for each in drawn):
        return f"{sum(each.ran for each in drawn)} of {steps} steps ran"
    return f"{steps} steps"


def _draw_box(parent: Element, drawn: _Drawn, corner: Point, width: float) -> None:
    x, y = corner
    group = SubElement(parent, "g", {"class": f"box {_class(drawn.state)}"})
    SubElement(group, "title").text = _tip(drawn)
    SubElement(
        group,
        "rect",
        {"x": _number(x), "y": _number(y), "width": _number(width), "height": _number(_HEIGHT), "rx": "6"},
    )
    top = SubElement(group, "text", x=_number(x + _PADDING), y=_number(y + 17))
    verb = SubElement(top, "tspan", {"class": "verb"})
    verb.text = printable(drawn.box.verb)
    if drawn.count:
        SubElement(top, "tspan", {"class": "count", "dx": "6"}).text = drawn.count
    name = SubElement(group, "text", {"class": "name", "x": _number(x + _PADDING), "y": _number(y + 33)})
    name.text = printable(drawn.box.label)
    _draw_mark(group, drawn.state, (x + width - 12, y + 12.5))


def _class(state: State) -> str:
    return state.replace(" ", "-")


def _tip(drawn: _Drawn) -> str:
    outputs = [output for step in drawn.box.steps for output in step.outputs]
    lines = [f"{drawn.box.verb}: {drawn.state}", *outputs[:_NAMES_IN_TIP]]
    if len(outputs) > _NAMES_IN_TIP:
        lines.append(f"and {len(outputs) - _NAMES_IN_TIP} more")
    return "\n".join(map(printable, lines))


def _draw_mark(parent: Element, state: State, centre: Point) -> None:
    """Readable without colours: a dot if all of it ran, half a dot for a part."""
    if state not in ("ran", "partly ran"):
        return
    x, y = centre
    circle = {"cx": _number(x), "cy": _number(y), "r": _number(_MARK)}
    SubElement(parent, "circle", {"class": "mark full" if state == "ran" else "mark", **circle})
    if state == "partly ran":
        radius = _number(_MARK)
        half = f"M{_number(x)} {_number(y - _MARK)} A{radius} {radius} 0 0 0 {_number(x)} {_number(y + _MARK)} Z"
        SubElement(parent, "path", {"class": "mark full", "d": half})


def _draw_edges(
    parent: Element, drawn: Sequence[_Drawn], edges: Sequence[Edge], curves: Sequence[Sequence[Point]]
) -> None:
    """Arrows of steps that ran are drawn last, over others that end at the same box."""
    both = [bool(drawn[edge.tail].ran and drawn[edge.head].ran) for edge in edges]
    for wanted in (False, True):
        for edge, curve, ran in zip(edges, curves, both, strict=True):
            if ran is wanted:
                _draw_edge(parent, edge, curve, ran=ran)


def _draw_edge(parent: Element, edge: Edge, curve: Sequence[Point], *, ran: bool) -> None:
    kind = (" after" if edge.after else "") + (" ran" if ran else "")
    begin, *rest = [" ".join(map(_number, point)) for point in curve]
    SubElement(parent, "path", {"class": f"edge{kind}", "d": f"M{begin} C{' '.join(rest)}"})
    SubElement(parent, "path", {"class": f"tip{' ran' if ran else ''}", "d": _arrowhead(curve[-2], curve[-1])})


def _arrowhead(before: Point, end: Point) -> str:
    """Drawn rather than a marker, whose name could clash in a page with several pictures."""
    dx, dy = end[0] - before[0], end[1] - before[1]
    length = (dx * dx + dy * dy) ** 0.5
    dx, dy = (dx / length, dy / length) if length > 1e-6 else (0.0, 1.0)
    x, y = end[0] - 7 * dx, end[1] - 7 * dy
    corners = (end, (x - 3 * dy, y + 3 * dx), (x + 3 * dy, y - 3 * dx))
    return "M" + " L".join(f"{_number(px)} {_number(py)}" for px, py in corners) + " Z"


@dataclass(frozen=True)
class _Sample:
    """shown: a box of this state, an arrow, or nothing beside the text."""

    text: str
    shown: State | Edge | None = None

    @property
    def width(self) -> float:
        return _PLAIN * len(self.text) + (16 if self.shown is None else 46)


def _samples(drawn: Sequence[_Drawn], edges: Sequence[Edge]) -> list[_Sample]:
    """For what is in the picture, and for all states, even if none of the boxes has one."""
    samples = [_Sample(_in_all(drawn))]
    states: tuple[State, ...] = ("ran", "partly ran", "up to date")
    if any(each.state != "planned" for each in drawn):
        samples += [_Sample(state, state) for state in states]
    if any(not edge.after for edge in edges):
        samples.append(_Sample("is made into", Edge(0, 0, after=False)))
    if any(edge.after for edge in edges):
        samples.append(_Sample("has to be there first", Edge(0, 0, after=True)))
    return samples


def _legend_width(samples: Sequence[_Sample]) -> float:
    return sum(sample.width for sample in samples)


def _draw_legend(root: Element, samples: Sequence[_Sample]) -> None:
    x = _MARGIN
    for sample in samples:
        _draw_sample(root, sample, x)
        x += sample.width


def _draw_sample(root: Element, sample: _Sample, x: float) -> None:
    middle = _MARGIN + 8
    if isinstance(sample.shown, Edge):
        _draw_edge(root, sample.shown, [*_across(x, x + 24, middle)], ran=False)
    elif sample.shown is not None:
        group = SubElement(root, "g", {"class": f"sample {_class(sample.shown)}"})
        place = {"x": _number(x + 1), "y": _number(middle - 8), "width": "24", "height": "16", "rx": "4"}
        SubElement(group, "rect", place)
        _draw_mark(group, sample.shown, (x + 13, middle))
    text_at = x if sample.shown is None else x + 31
    text = SubElement(root, "text", {"class": "legend", "x": _number(text_at), "y": _number(middle + 4)})
    text.text = sample.text


def _across(left: float, right: float, y: float) -> Iterator[Point]:
    for share in (0, 1, 2, 3):
        yield left + (right - left) * share / 3, y


def _number(value: float) -> str:
    """Short, and the same wherever it is computed."""
    return f"{value:.1f}".removesuffix(".0")
