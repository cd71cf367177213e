"""Picture of a network's buffers: addresses upwards, epochs to the right.

It has a light and a dark style. Buffers above one another are in use at the same time; a buffer that
follows another one takes its memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from n6build.base.console import kib, printable
from n6build.base.svg import line, picture, rect, text
from n6build.compile.artifacts.buffer_lives import BufferLife
from n6build.tell.content import Part

# Pixels. The picture is as wide as the page; if not all epochs fit, it is wider.
_WIDTH, _GUTTER, _MARGIN = 1080, 118, 12
_WIDEST, _NARROWEST = 40.0, 5.0
_BARS, _HEIGHT, _LEAST, _BETWEEN = 44, 340, 26, 16
_LEGEND, _AXIS = 40, 20
_THINNEST = 1.5
_LETTER = 6.4
# More of them would only slow the browser down.
MOST_BUFFERS, MOST_EPOCHS = 3000, 2000
_ROLES = (
    ("input", "input"),
    ("output", "output"),
    ("activation", "between epochs"),
    ("scratch", "scratch of a kernel"),
)
_STYLE = """
.n6-memory { color-scheme: light dark; --mem-paper: #ffffff; --mem-ink: #1c2330; --mem-quiet: #5b6577; --mem-lane: #f1f3f7;
  --mem-line: #b9c2d0; --mem-activation: #2563eb; --mem-input: #15803d; --mem-output: #c2570c; --mem-scratch: #64748b; }
@media (prefers-color-scheme: dark) { .n6-memory { --mem-paper: #12161d; --mem-ink: #e6eaf1; --mem-quiet: #9aa5b8;
  --mem-lane: #1b222c; --mem-line: #465264; --mem-activation: #60a5fa; --mem-input: #4ade80; --mem-output: #fb923c;
  --mem-scratch: #94a3b8; } }
.n6-memory .paper { fill: var(--mem-paper); }
.n6-memory text { fill: var(--mem-quiet); font: 11px system-ui, sans-serif; }
.n6-memory .place { fill: var(--mem-ink); font: 11px ui-monospace, monospace; text-anchor: end; }
.n6-memory .number { font-variant-numeric: tabular-nums; text-anchor: middle; }
.n6-memory .end { text-anchor: end; }
.n6-memory .lane { fill: var(--mem-lane); }
.n6-memory .tick { stroke: var(--mem-line); stroke-width: 1; }
.n6-memory .border { stroke: var(--mem-line); stroke-width: 1; stroke-dasharray: 4 3; }
.n6-memory .buffer { stroke: var(--mem-paper); stroke-width: 1; }
.n6-memory .input { fill: var(--mem-input); } .n6-memory .output { fill: var(--mem-output); }
.n6-memory .activation { fill: var(--mem-activation); } .n6-memory .scratch { fill: var(--mem-scratch); }
"""


@dataclass(frozen=True)
class _Band:
    """Memory without a gap, [start, end), drawn from `top`.

    Attributes:
        name: Names of its pools.
        start: First address.
        end: End address.
        borders: Borders between its pools.
        top: Pixels from the top.
        scale: Pixels for a byte.
    """

    name: str
    start: int
    end: int
    borders: tuple[tuple[int, str], ...]
    top: float = 0
    scale: float = 0

    def y(self, address: int) -> float:
        """Return the pixels of an address from the top; higher addresses are further up."""
        return self.top + (self.end - address) * self.scale


def in_use(lives: Sequence[BufferLife]) -> list[int]:
    """Return the used bytes in each epoch, from 0 on; shared bytes count once."""
    counts: list[int] = []
    waiting = sorted(lives, key=lambda life: -life.first)
    now: list[BufferLife] = []
    for epoch in range(max((life.last for life in lives), default=-1) + 1):
        before = len(now)
        now = [life for life in now if epoch <= life.last]
        changed = len(now) < before
        while waiting and waiting[-1].first <= epoch:
            now.append(waiting.pop())
            changed = True
        counts.append(_covered(now) if changed else counts[-1] if counts else 0)
    return counts


def _covered(lives: Sequence[BufferLife]) -> int:
    total = end = 0
    for start, stop in sorted((life.address, life.address + life.bytes) for life in lives):
        total += max(0, stop - max(start, end))
        end = max(end, stop)
    return total


def fullest_epoch(lives: Sequence[BufferLife]) -> int:
    """Return the first of the epochs with the most used bytes."""
    counts = in_use(lives)
    return counts.index(max(counts))


def drawn(lives: Sequence[BufferLife]) -> list[BufferLife]:
    """Return the buffers that the picture shows."""
    return [life for life in lives if life.bytes and life.last < MOST_EPOCHS][:MOST_BUFFERS]


def memory_svg(lives: Sequence[BufferLife], pools: Sequence[Part]) -> str:
    """Return an element <svg>, for a page or for a separate file.

    It is empty without buffers.

    Args:
        lives: Buffers of a network.
        pools: Pools that the network may use.
    """
    shown = drawn(lives)
    if not shown:
        return ""
    last = max(life.last for life in shown)
    column = min(_WIDEST, max(_NARROWEST, (_WIDTH - _GUTTER - 2 * _MARGIN) / (last + 1)))
    bands_at = _MARGIN + _LEGEND + _BARS + _BETWEEN
    bands = _laid_out(_bands(shown, pools), bands_at)
    bottom = bands[-1].y(bands[-1].start)
    width = max(_GUTTER + column * (last + 1) + 2 * _MARGIN, 560.0)
    label = f"{len(shown)} buffers in {last} epochs; each has a tooltip, and the table lists those of the fullest epoch"
    root = picture("n6-memory", width, bottom + _AXIS + _MARGIN, label, _STYLE)
    _legend(root, shown)
    _ticks(root, last, column, bottom)
    _bars(root, shown, last, column)
    for band in bands:
        _band(root, band, column * (last + 1))
    for life in shown:
        band = next(each for each in bands if each.start <= life.address < each.end)
        _buffer(root, life, band, column)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _bands(lives: Sequence[BufferLife], pools: Sequence[Part]) -> list[_Band]:
    """Return the used ranges of memory, the highest addresses first."""
    spans: list[tuple[int, int]] = []
    borders = {pool.address for pool in pools} | {pool.address + pool.size for pool in pools}
    runs = [(pool.address, pool.address + pool.size) for pool in sorted(pools, key=lambda pool: pool.address)]
    runs += [(life.address, life.address + life.bytes) for life in lives]
    for start, end in sorted(runs):
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], end))
        else:
            spans.append((start, end))
    found = []
    for start, end in spans:
        inside = [life for life in lives if start <= life.address < end]
        if inside:
            low = min(life.address for life in inside)
            high = max(life.address + life.bytes for life in inside)
            used = [pool for pool in pools if pool.address < high and low < pool.address + pool.size]
            names = "_".join(pool.label.removeprefix("pool ") for pool in used)
            at = [(border, f"0x{border:08X}") for border in sorted(borders) if low < border < high]
            found.append(_Band(names, low, high, tuple(at)))
    return found[::-1]


def _laid_out(bands: Sequence[_Band], top: float) -> list[_Band]:
    """Place all bands at one scale, but none too small to be seen."""
    scale = _HEIGHT / sum(band.end - band.start for band in bands)
    placed = []
    for band in bands:
        height = max(_LEAST, scale * (band.end - band.start))
        placed.append(_Band(band.name, band.start, band.end, band.borders, top, height / (band.end - band.start)))
        top += height + _BETWEEN
    return placed


def _legend(root: Element, lives: Sequence[BufferLife]) -> None:
    x = float(_MARGIN)
    for role, said in _ROLES:
        if any(life.role == role for life in lives):
            rect(root, role, x, _MARGIN, 11, 11)
            text(root, "", x + 16, _MARGIN + 9.5, said)
            x += 30 + _LETTER * len(said)


def _ticks(root: Element, last: int, column: float, bottom: float) -> None:
    every = max(1, math.ceil((_LETTER * len(str(last)) + 8) / column))
    for epoch in range(0, last + 1, every):
        x = _left(epoch, column) + column / 2
        line(root, "tick", x, _MARGIN + _LEGEND, x, bottom + 3)
        text(root, "number", x, bottom + 15, str(epoch))
    text(root, "end", _MARGIN + _GUTTER - 10, bottom + 15, "epoch")


def _bars(root: Element, lives: Sequence[BufferLife], last: int, column: float) -> None:
    top = _MARGIN + _LEGEND
    used = in_use(lives)
    rect(root, "lane", _left(0, column), top, column * (last + 1), _BARS)
    text(root, "end", _MARGIN + _GUTTER - 10, top + _BARS, "bytes in use")
    text(root, "", _left(0, column), top - 5, f"at most {max(used):,}, in epoch {used.index(max(used))}")
    for epoch, count in enumerate(used):
        if count:
            height = max(1.0, _BARS * count / max(used))
            bar = rect(root, "activation", _left(epoch, column) + 0.5, top + _BARS - height, column - 1, height)
            SubElement(bar, "title").text = f"epoch {epoch}\n{count:,} bytes in use"


def _band(root: Element, band: _Band, width: float) -> None:
    x = _left(0, 0)
    top, bottom = band.y(band.end), band.y(band.start)
    lane = rect(root, "lane", x, top, width, bottom - top)
    SubElement(lane, "title").text = f"{printable(band.name)}\n{kib(band.end - band.start)}"
    taken = bottom
    text(root, "place", x - 10, bottom, f"0x{band.start:08X}")
    for border, name in (*band.borders, (band.end, f"0x{band.end:08X}")):
        y = band.y(border)
        if border < band.end:
            line(root, "border", x, y, x + width, y)
        # Addresses must not overlap.
        if taken - y >= 12:
            text(root, "place", x - 10, y + (9 if border == band.end else 4), name)
            taken = y


def _buffer(root: Element, life: BufferLife, band: _Band, column: float) -> None:
    height = max(_THINNEST, life.bytes * band.scale)
    y = min(band.y(life.address + life.bytes), band.y(life.address) - height)
    width = column * (life.last - life.first + 1)
    # A thin buffer has no outline, since it would hide the buffer.
    kind = f"buffer {life.role}" if height > 2 * _THINNEST else life.role
    shown = rect(root, kind, _left(life.first, column), y, width, height)
    when = f"epoch {life.first}" if life.first == life.last else f"epochs {life.first} to {life.last}"
    SubElement(shown, "title").text = f"{printable(life.name)}\n{life.bytes:,} bytes at 0x{life.address:08X}\n{when}"


def _left(epoch: int, column: float) -> float:
    return _MARGIN + _GUTTER + epoch * column
