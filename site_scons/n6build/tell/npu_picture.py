"""Picture of the NPU's units in each epoch: SVG without scripts, fonts or links.

It has a light and a dark style. All columns have the same width, since the virtual NPU knows no times.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from n6build.base.console import printable
from n6build.base.svg import line, number, picture, rect, text
from n6build.board.run.npu_epochs import HardwareEpoch
from n6build.board.virtual_board.npu_record import UnitWork

# Pixels. The picture is as wide as the page's text; if not all epochs fit, it is wider.
_WIDTH, _GUTTER, _MARGIN = 1080, 84, 12
_WIDEST, _NARROWEST = 26.0, 8.0
_ROW, _GAP, _BARS, _BETWEEN = 15, 2, 40, 20
_LEGEND, _AXIS = 36, 20
_LETTER = 6.4
# More of them would only slow the browser down; the table has all epochs.
MOST_EPOCHS = 600
# The opacity of the smallest share, which has to be visible.
_FAINTEST = 0.16
_KINDS = ("STRENG", "CONVACC", "DECUN", "ACTIV", "ARITH", "POOL", "RECBUF")
_NAME = re.compile(r"([A-Z]+)(\d*)")
_SHADES = (0.01, 0.25, 1.0)
_SHADES_MEAN = "darker: a larger share of the unit's maximum in any epoch (bytes, MACs, elements)"
_SAMPLES = (
    ("reads", "read"),
    ("writes", "write"),
    ("convolves", "convacc"),
    ("calculates", "arith"),
    ("pools", "pool"),
    ("looks up", "activ"),
    ("another unit", "other"),
)

# A style sheet applies to the whole page, so that every rule is limited to this picture.
_STYLE = """
.n6-npu { color-scheme: light dark; --npu-paper: #ffffff; --npu-ink: #1c2330; --npu-quiet: #5b6577; --npu-lane: #f1f3f7;
  --npu-line: #d3d9e3; --npu-read: #2563eb; --npu-write: #0f766e; --npu-convacc: #c2570c; --npu-arith: #7c3aed;
  --npu-pool: #be185d; --npu-activ: #15803d; --npu-other: #475569; }
@media (prefers-color-scheme: dark) { .n6-npu { --npu-paper: #12161d; --npu-ink: #e6eaf1; --npu-quiet: #9aa5b8;
  --npu-lane: #1b222c; --npu-line: #333d4b; --npu-read: #60a5fa; --npu-write: #2dd4bf; --npu-convacc: #fb923c;
  --npu-arith: #a78bfa; --npu-pool: #f472b6; --npu-activ: #4ade80; --npu-other: #94a3b8; } }
.n6-npu .paper { fill: var(--npu-paper); }
.n6-npu text { fill: var(--npu-quiet); font: 11px system-ui, sans-serif; }
.n6-npu .unit { fill: var(--npu-ink); font: 11px ui-monospace, monospace; }
.n6-npu .number { font-variant-numeric: tabular-nums; text-anchor: middle; }
.n6-npu .end { text-anchor: end; }
.n6-npu .lane { fill: var(--npu-lane); }
.n6-npu .tick { stroke: var(--npu-line); stroke-width: 1; }
.n6-npu .read { fill: var(--npu-read); } .n6-npu .write { fill: var(--npu-write); } .n6-npu .convacc { fill: var(--npu-convacc); }
.n6-npu .arith { fill: var(--npu-arith); } .n6-npu .pool { fill: var(--npu-pool); } .n6-npu .activ { fill: var(--npu-activ); }
.n6-npu .other { fill: var(--npu-other); }
"""


@dataclass(frozen=True)
class _Work:
    """Work of a unit in an epoch.

    Attributes:
        unit: The unit.
        colour: Class of its colour.
        count: Number of MACs, bytes or elements, by the kind of unit.
        of: The counted thing.
    """

    unit: UnitWork
    colour: str
    count: int
    of: str


def npu_svg(epochs: Sequence[HardwareEpoch]) -> str:
    """Return an element <svg>, for a page or for a separate file.

    It is empty without epochs.
    """
    shown = epochs[:MOST_EPOCHS]
    rows = _rows(shown)
    if not rows:
        return ""
    column = min(_WIDEST, max(_NARROWEST, (_WIDTH - _GUTTER - 2 * _MARGIN) / len(shown)))
    colours = {_work(unit).colour for epoch in shown for unit in epoch.units}
    width = max(_GUTTER + column * len(shown) + 2 * _MARGIN, _legend_width(colours))
    bars_at = _MARGIN + _LEGEND
    rows_at = bars_at + 2 * (_BARS + _BETWEEN)
    height = rows_at + len(rows) * (_ROW + _GAP) + _AXIS + _MARGIN
    root = _root(width, height, len(rows), len(shown))
    _legend(root, colours)
    _ticks(root, shown, column, bars_at, rows_at + len(rows) * (_ROW + _GAP))
    _bars(root, "MACs", [(epoch, epoch.macs, "convacc") for epoch in shown], column, bars_at)
    moved = [(epoch, epoch.reads + epoch.writes, "read") for epoch in shown]
    _bars(root, "bytes moved", moved, column, bars_at + _BARS + _BETWEEN)
    most = _most(shown)
    for index, name in enumerate(rows):
        _row(root, name, shown, column, rows_at + index * (_ROW + _GAP), most)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _rows(epochs: Iterable[HardwareEpoch]) -> list[str]:
    """Return the names of active units, by kind and number."""
    names = {unit.unit for epoch in epochs for unit in epoch.units}
    return sorted((name for name in names if _NAME.fullmatch(name)), key=_place)


def _place(name: str) -> tuple[int, int]:
    kind, index = _parts(name)
    return (_KINDS.index(kind) if kind in _KINDS else len(_KINDS)), int(index or 0)


def _parts(name: str) -> tuple[str, str]:
    match = _NAME.fullmatch(name)
    return (match[1], match[2]) if match else (name, "")


def _work(unit: UnitWork) -> _Work:
    kind, _ = _parts(unit.unit)
    if kind == "STRENG":
        return _Work(unit, "write" if unit.writes else "read", unit.reads + unit.writes, "bytes")
    if kind == "CONVACC":
        return _Work(unit, "convacc", unit.macs, "MACs")
    return _Work(unit, kind.lower() if kind in ("ARITH", "POOL", "ACTIV") else "other", unit.elements, "elements")


def _most(epochs: Iterable[HardwareEpoch]) -> dict[str, int]:
    """Return the largest count of any unit in an epoch, by the counted thing."""
    most: dict[str, int] = {}
    for work in (_work(unit) for epoch in epochs for unit in epoch.units):
        most[work.of] = max(most.get(work.of, 0), work.count)
    return most


def _root(width: float, height: float, rows: int, epochs: int) -> Element:
    label = f"{rows} units of the NPU in {epochs} epochs; each cell has a tooltip, and the table has the numbers"
    return picture("n6-npu", width, height, label, _STYLE)


def _legend_width(colours: Collection[str]) -> float:
    samples = sum(30 + _LETTER * len(text) for text, colour in _SAMPLES if colour in colours)
    return 2 * _MARGIN + samples + 10 + 12 * len(_SHADES) + 5 + _LETTER * len(_SHADES_MEAN)


def _legend(root: Element, colours: Collection[str]) -> None:
    """Draw the colours of this picture, then the meaning of shades."""
    x = float(_MARGIN)
    for said, colour in (sample for sample in _SAMPLES if sample[1] in colours):
        rect(root, colour, x, _MARGIN, 11, 11)
        text(root, "", x + 16, _MARGIN + 9.5, said)
        x += 30 + _LETTER * len(said)
    x += 10
    for share in _SHADES:
        rect(root, "other", x, _MARGIN, 11, 11).set("fill-opacity", number(_shade(share), 2))
        x += 12
    text(root, "", x + 5, _MARGIN + 9.5, _SHADES_MEAN)


def _ticks(root: Element, epochs: Sequence[HardwareEpoch], column: float, top: float, bottom: float) -> None:
    """Draw a number where there is room for it; numbers of epochs may have gaps."""
    widest = max(len(str(epoch.number)) for epoch in epochs)
    every = max(1, math.ceil((_LETTER * widest + 8) / column))
    for index in range(0, len(epochs), every):
        x = _left(index, column) + column / 2
        line(root, "tick", x, top, x, bottom + 3)
        text(root, "number", x, bottom + 15, str(epochs[index].number))
    text(root, "end", _MARGIN + _GUTTER - 10, bottom + 15, "epoch")


def _bars(root: Element, title: str, bars: Sequence[tuple[HardwareEpoch, int, str]], column: float, top: float) -> None:
    most = max(count for _, count, _ in bars)
    text(root, "end", _MARGIN + _GUTTER - 10, top + _BARS, title)
    rect(root, "lane", _left(0, column), top, column * len(bars), _BARS)
    for index, (epoch, count, colour) in enumerate(bars):
        if count:
            height = max(1.0, _BARS * count / most)
            x = _left(index, column)
            bar = rect(root, colour, x + 0.5, top + _BARS - height, column - 1, height)
            SubElement(bar, "title").text = f"{_called(epoch)}\n{count:,} {title}"
    text(root, "", _left(0, column), top - 4, f"at most {most:,}")


def _row(
    root: Element, name: str, epochs: Sequence[HardwareEpoch], column: float, top: float, most: dict[str, int]
) -> None:
    text(root, "unit end", _MARGIN + _GUTTER - 10, top + _ROW - 3.5, name)
    rect(root, "lane", _left(0, column), top, column * len(epochs), _ROW)
    for index, epoch in enumerate(epochs):
        for unit in epoch.units:
            if unit.unit == name:
                work = _work(unit)
                cell = rect(root, work.colour, _left(index, column) + 0.5, top, column - 1, _ROW)
                cell.set("fill-opacity", number(_shade(work.count / (most[work.of] or 1)), 2))
                what = f": {printable(unit.what)}" if unit.what else ""
                SubElement(cell, "title").text = f"{_called(epoch)}\n{name}{what}\n{work.count:,} {work.of}"


def _called(epoch: HardwareEpoch) -> str:
    return f"epoch {epoch.number}, {printable(epoch.operators)}"


def _left(index: int, column: float) -> float:
    return _MARGIN + _GUTTER + index * column


def _shade(share: float) -> float:
    """Return the opacity of a share by its square root: shares differ by magnitudes."""
    return _FAINTEST + (1 - _FAINTEST) * math.sqrt(min(1.0, share))
