"""Pictures of expected times: SVG without scripts, fonts or links.

They have a light and a dark style. A time line shows the work of NPU, flash and CPU. A roofline shows
how near each epoch comes to their limits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from n6build.base.console import printable
from n6build.base.svg import line, number, picture, rect, text
from n6build.judge.timing.expected import EpochTime, NetworkTime

# Pixels.
_WIDTH, _GUTTER, _MARGIN, _RIGHT = 1080, 84, 12, 24
_LANE, _GAP, _LEGEND, _AXIS = 30, 8, 32, 34
_HEIGHT, _DOT = 320, 4
_TICKS = 8
# More of them would only slow the browser down; the table has all epochs.
_MOST_EPOCHS = 2000
# Distance on the axis of epochs that read no flash, as a factor after the last epoch that does.
_BEYOND = 4.0
_SAMPLES = (
    ("NPU", "npu"),
    ("flash", "flash"),
    ("CPU", "cpu"),
    ("starting and ending", "overhead"),
    ("lower bound only", "least"),
)

# A style sheet applies to the whole page, so that every rule is limited to this picture.
_STYLE = """
.n6-time { color-scheme: light dark; --time-paper: #ffffff; --time-ink: #1c2330; --time-quiet: #5b6577; --time-lane: #f1f3f7;
  --time-line: #d3d9e3; --time-npu: #2563eb; --time-flash: #c2570c; --time-cpu: #15803d; --time-overhead: #64748b;
  --time-least: #be185d; }
@media (prefers-color-scheme: dark) { .n6-time { --time-paper: #12161d; --time-ink: #e6eaf1; --time-quiet: #9aa5b8;
  --time-lane: #1b222c; --time-line: #333d4b; --time-npu: #60a5fa; --time-flash: #fb923c; --time-cpu: #4ade80;
  --time-overhead: #94a3b8; --time-least: #f472b6; } }
.n6-time .paper { fill: var(--time-paper); }
.n6-time text { fill: var(--time-quiet); font: 11px system-ui, sans-serif; }
.n6-time .name { fill: var(--time-ink); }
.n6-time .number { font-variant-numeric: tabular-nums; text-anchor: middle; }
.n6-time .end { text-anchor: end; }
.n6-time .lane { fill: var(--time-lane); }
.n6-time .tick { stroke: var(--time-line); stroke-width: 1; }
.n6-time .roof { stroke: var(--time-ink); stroke-width: 1.5; fill: none; }
.n6-time .npu { fill: var(--time-npu); } .n6-time .flash { fill: var(--time-flash); } .n6-time .cpu { fill: var(--time-cpu); }
.n6-time .overhead { fill: var(--time-overhead); } .n6-time .least { fill: var(--time-least); }
"""


def time_line_svg(time: NetworkTime) -> str:
    """Return a time line as an element <svg>, for a page or for a separate file.

    It is empty without epochs or time.
    """
    if not time.epochs or time.ms <= 0:
        return ""
    top = _MARGIN + _LEGEND
    height = top + 3 * (_LANE + _GAP) + _AXIS
    drawn = time.epochs[:_MOST_EPOCHS]
    label = (
        f"{len(drawn)} epochs in {time.ms:.3g} ms, by NPU, flash and CPU; each has a tooltip, and the table has the "
        f"numbers"
    )
    root = picture("n6-time", _WIDTH, height, label, _STYLE)
    _legend(root)
    wide = _WIDTH - _GUTTER - _MARGIN - _RIGHT
    left = _MARGIN + _GUTTER
    for row, name in enumerate(("NPU", "flash", "CPU")):
        y = top + row * (_LANE + _GAP)
        text(root, "name end", left - 10, y + _LANE / 2 + 4, name)
        rect(root, "lane", left, y, wide, _LANE)
    for epoch in drawn:
        for row, begin, length, kind in _bars(epoch):
            x = left + wide * begin / time.ms
            bar = rect(root, kind, x, top + row * (_LANE + _GAP), max(0.3, wide * length / time.ms), _LANE)
            SubElement(bar, "title").text = _tip(epoch)
    bottom = top + 3 * (_LANE + _GAP)
    for index in range(_TICKS + 1):
        x = left + wide * index / _TICKS
        line(root, "tick", x, top, x, bottom)
        text(root, "number", x, bottom + 14, f"{time.ms * index / _TICKS:.3g}{' ms' if index == _TICKS else ''}")
    return ElementTree.tostring(root, encoding="unicode")


def _bars(epoch: EpochTime) -> Iterator[tuple[int, float, float, str]]:
    """Yield lane, begin, length and colour of each bar of an epoch.

    The CPU's work before and after an epoch is drawn before it.
    """
    if epoch.high is None and not any((epoch.npu, epoch.flash, epoch.cpu, epoch.overhead)):
        yield 2, epoch.start, epoch.ms, "least"
        return
    if epoch.overhead:
        yield 2, epoch.start, min(epoch.overhead, epoch.ms), "overhead"
    begin = epoch.start + min(epoch.overhead, epoch.ms)
    left = epoch.start + epoch.ms - begin
    if epoch.npu:
        yield 0, begin, min(epoch.npu, left), "least" if epoch.high is None else "npu"
    if epoch.flash:
        yield 1, begin, min(epoch.flash, left), "flash"
    if epoch.cpu:
        yield 2, begin, min(epoch.cpu, left), "least" if epoch.high is None else "cpu"


def _tip(epoch: EpochTime) -> str:
    bounds = f"at least {epoch.low:.3f} ms" if epoch.high is None else f"{epoch.low:.3f} to {epoch.high:.3f} ms"
    return f"epoch {epoch.number}, {printable(epoch.kind)}\n{bounds}, bound by {epoch.bound}"


def _legend(root: Element) -> None:
    x = float(_MARGIN)
    for said, colour in _SAMPLES:
        rect(root, colour, x, _MARGIN, 11, 11)
        text(root, "", x + 16, _MARGIN + 9.5, said)
        x += 34 + 6.4 * len(said)


def roofline_svg(time: NetworkTime) -> str:
    """Return a roofline as an element <svg>, as `time_line_svg`.

    It has the epochs whose number of elements is known.
    """
    dots = [each for each in time.epochs[:_MOST_EPOCHS] if each.elements and each.ms > 0]
    if not dots:
        return ""
    peak, rate = time.at.npu_hz / 1e3, time.at.nor_bytes_per_ns * 1e6
    knee = peak / rate
    ratios = [each.elements / each.flash_bytes for each in dots if each.flash_bytes]
    low, high = min([*ratios, knee / 10]), max([*ratios, knee * 10]) * _BEYOND
    slow = min([each.elements / each.ms for each in dots] + [rate * low])
    chart = _Chart(low, high * _BEYOND, slow / 2, peak * 2)
    label = f"{len(dots)} epochs under a roof of {time.at.text}; each has a tooltip, and the table has the numbers"
    root = picture("n6-time", _WIDTH, _HEIGHT, label, _STYLE)
    _grid(root, chart, high * 2)
    points = [(low, rate * low), (knee, peak), (high * _BEYOND, peak)]
    path = " ".join(f"{number(chart.x(x))},{number(chart.y(y))}" for x, y in points)
    SubElement(root, "polyline", {"class": "roof", "points": path})
    text(root, "name", chart.x(knee) + 6, chart.y(peak) - 6, "an element a cycle of the NPU")
    middle = math.sqrt(low * knee)
    text(root, "name", chart.x(middle) + 12, chart.y(rate * middle) + 22, "the flash at its line's rate")
    for each in dots:
        x = each.elements / each.flash_bytes if each.flash_bytes else high * 2
        kind = "least" if each.high is None else "cpu" if each.on == "CPU" else "npu"
        place = {
            "cx": number(chart.x(x)),
            "cy": number(chart.y(min(each.elements / each.ms, peak * 2))),
            "r": str(_DOT),
        }
        dot = SubElement(root, "circle", {"class": kind, "fill-opacity": "0.7", **place})
        SubElement(dot, "title").text = _tip(each)
    return ElementTree.tostring(root, encoding="unicode")


class _Chart:
    """Places on two logarithmic axes."""

    def __init__(self, left: float, right: float, bottom: float, top: float) -> None:
        self._x = (math.log10(left), math.log10(right))
        self._y = (math.log10(bottom), math.log10(top))

    def x(self, value: float) -> float:
        """Return the pixels of elements for each byte."""
        begin, end = self._x
        wide = _WIDTH - _GUTTER - _MARGIN - _RIGHT
        return _MARGIN + _GUTTER + wide * (math.log10(value) - begin) / (end - begin)

    def y(self, value: float) -> float:
        """Return the pixels of elements in a millisecond."""
        begin, end = self._y
        high = _HEIGHT - _MARGIN - _AXIS
        return _MARGIN + high * (end - math.log10(value)) / (end - begin)

    def powers(self, axis: str) -> Iterator[float]:
        """Yield the powers of ten on an axis."""
        begin, end = self._x if axis == "x" else self._y
        yield from (10.0**power for power in range(math.ceil(begin), math.floor(end) + 1))


def _grid(root: Element, chart: _Chart, without: float) -> None:
    """Draw the axes; `without` is the place of epochs that read no flash."""
    bottom, left = _HEIGHT - _AXIS, _MARGIN + _GUTTER
    for value in chart.powers("x"):
        line(root, "tick", chart.x(value), _MARGIN, chart.x(value), bottom)
        if value < without / 2:
            text(root, "number", chart.x(value), bottom + 14, f"{value:g}")
    for value in chart.powers("y"):
        line(root, "tick", left, chart.y(value), _WIDTH - _RIGHT, chart.y(value))
        text(root, "end", left - 8, chart.y(value) + 4, f"{value:,.0f}")
    text(root, "number", chart.x(without), bottom + 14, "no flash")
    text(
        root,
        "number",
        (_WIDTH + left) / 2,
        bottom + 28,
        "elements for each byte of flash; upwards: elements in a millisecond",
    )
