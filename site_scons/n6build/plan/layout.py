"""Positions of boxes in a picture and of the arrows between them: in rows, each below all that its boxes need.

After Sugiyama: rows by the longest path, order within a row by the mean of the neighbours, positions by least squares. The
same input gives the same picture.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from n6build.plan.boxes import Edge

Point = tuple[float, float]

_BETWEEN = 14.0
_BESIDE_AN_ARROW = 10.0
_BETWEEN_ROWS = 38.0
# A wider row is broken into several: a page shrinks a picture to its own width, and letters have to stay readable.
_WIDEST_ROW = 1400.0
_SWEEPS = 12
# Of arrows that pass rows; further arrows run straight, behind the boxes.
_MOST_BENDS = 6000


@dataclass(frozen=True)
class Layout:
    """width, height, centres of the boxes and curves of the edges: pixels. curves: a start and three more points for each
    cubic piece."""

    width: float
    height: float
    centres: tuple[Point, ...]
    curves: tuple[tuple[Point, ...], ...]


@dataclass
class _Rows:
    """Nodes are the boxes, followed by the bends of arrows that pass a row. chains: nodes of each edge, from row to row."""

    widths: list[float]
    rows: list[list[int]]
    above: list[list[int]]
    below: list[list[int]]
    chains: list[list[int]]
    boxes: int


def layered(sizes: Sequence[tuple[float, float]], edges: Sequence[Edge]) -> Layout:
    """sizes: width and height of each box in pixels."""
    if not sizes:
        return Layout(0.0, 0.0, (), ())
    levels = _broken(_levels(len(sizes), edges), [width for width, _ in sizes])
    rows = _with_bends(levels, [width for width, _ in sizes], edges)
    _order(rows)
    across = _across(rows)
    heights = [max((sizes[node][1] for node in row if node < rows.boxes), default=0.0) for row in rows.rows]
    tops = [0.0, *accumulate(height + _BETWEEN_ROWS for height in heights)]
    down = [0.0] * len(rows.widths)
    half = [height / 2 for _, height in sizes] + [0.0] * (len(rows.widths) - rows.boxes)
    for number, row in enumerate(rows.rows):
        for node in row:
            down[node] = tops[number] + heights[number] / 2
            # An arrow passes a row vertically, clear of the boxes beside it.
            half[node] = half[node] if node < rows.boxes else heights[number] / 2
    left = min(across[node] - rows.widths[node] / 2 for node in range(len(across)))
    right = max(across[node] + rows.widths[node] / 2 for node in range(len(across)))
    places = [(x - left, y) for x, y in zip(across, down, strict=True)]
    curves = tuple(_curve([places[node] for node in chain], [half[node] for node in chain]) for chain in rows.chains)
    return Layout(right - left, tops[-1] - _BETWEEN_ROWS, tuple(places[: len(sizes)]), curves)


def _neighbours(count: int, edges: Sequence[Edge]) -> tuple[list[list[int]], list[list[int]]]:
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    for edge in edges:
        above[edge.head].append(edge.tail)
        below[edge.tail].append(edge.head)
    return above, below


def _levels(count: int, edges: Sequence[Edge]) -> list[int]:
    """By the longest path from the start. A box with more successors than predecessors is moved down next to its successors."""
    above, below = _neighbours(count, edges)
    levels = [0] * count
    missing = [len(each) for each in above]
    order = [number for number in range(count) if not missing[number]]
    for number in order:
        for head in below[number]:
            levels[head] = max(levels[head], levels[number] + 1)
            missing[head] -= 1
            if not missing[head]:
                order.append(head)
    for number in reversed(order):
        if len(above[number]) < len(below[number]):
            levels[number] = min(levels[head] for head in below[number]) - 1
    return levels


def _broken(levels: Sequence[int], widths: Sequence[float]) -> list[int]:
    """Levels again, with rows that are too wide broken into several."""
    rows: dict[int, list[int]] = {}
    for number, level in enumerate(levels):
        rows.setdefault(level, []).append(number)
    found = [0] * len(levels)
    first = 0
    for level in sorted(rows):
        row = rows[level]
        count = -int(-sum(widths[number] + _BETWEEN for number in row) // _WIDEST_ROW)
        for place, number in enumerate(row):
            found[number] = first + place * count // len(row)
        first += count
    return found


def _with_bends(levels: Sequence[int], widths: Sequence[float], edges: Sequence[Edge]) -> _Rows:
    rows: list[list[int]] = [[] for _ in range(max(levels) + 1)]
    for number, level in enumerate(levels):
        rows[level].append(number)
    result = _Rows([*widths], rows, [[] for _ in widths], [[] for _ in widths], [[] for _ in edges], len(widths))
    left = _MOST_BENDS
    # Short ones first, which benefit most.
    for number in sorted(
        range(len(edges)), key=lambda each: (levels[edges[each].head] - levels[edges[each].tail], each)
    ):
        edge = edges[number]
        passed = range(levels[edge.tail] + 1, levels[edge.head])
        left -= len(passed)
        bends = [_add_bend(result, row) for row in passed] if left >= 0 else []
        result.chains[number] = [edge.tail, *bends, edge.head]
        if bends or not passed:
            for upper, lower in pairwise(result.chains[number]):
                result.below[upper].append(lower)
                result.above[lower].append(upper)
    return result


def _add_bend(rows: _Rows, row: int) -> int:
    node = len(rows.widths)
    rows.widths.append(0.0)
    rows.above.append([])
    rows.below.append([])
    rows.rows[row].append(node)
    return node


def _order(rows: _Rows) -> None:
    """Of the orders tried, leaves the one with the fewest crossings."""
    best, fewest = [[*row] for row in rows.rows], _crossings(rows)
    for sweep in range(_SWEEPS):
        place = {node: float(number) for row in rows.rows for number, node in enumerate(row)}
        downwards = sweep % 2 == 0
        beside = rows.above if downwards else rows.below
        for row in rows.rows if downwards else reversed(rows.rows):
            wanted = {node: _mean([place[each] for each in beside[node]], place[node]) for node in row}
            row.sort(key=lambda node: wanted[node])
            place.update((node, float(number)) for number, node in enumerate(row))
        crossings = _crossings(rows)
        if crossings < fewest:
            best, fewest = [[*row] for row in rows.rows], crossings
        if not fewest:
            break
    rows.rows[:] = best


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _crossings(rows: _Rows) -> int:
    """Pairs of arrows that end in the opposite order."""
    count = 0
    for upper, lower in pairwise(rows.rows):
        place = {node: number for number, node in enumerate(lower)}
        seen: list[int] = []
        for node in upper:
            ends = sorted(place[each] for each in rows.below[node])
            count += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return count


def _across(rows: _Rows) -> list[float]:
    """Centre of each node, near its neighbours in the rows above and below."""
    places = [0.0] * len(rows.widths)
    for row in rows.rows:
        offsets = [0.0, *accumulate(_apart(rows, one, other) for one, other in pairwise(row))]
        for node, offset in zip(row, offsets, strict=True):
            places[node] = offset - offsets[-1] / 2
    for sweep in range(_SWEEPS):
        both = sweep >= _SWEEPS - 4
        for row in rows.rows if sweep % 2 == 0 else reversed(rows.rows):
            wanted = []
            for node in row:
                beside = rows.above[node] if sweep % 2 == 0 else rows.below[node]
                near = [*rows.above[node], *rows.below[node]] if both else beside
                wanted.append(_mean([places[each] for each in near], places[node]))
            # Straight arrows matter more than boxes in the middle.
            weights = [1.0 if node < rows.boxes else 4.0 for node in row]
            gaps = [_apart(rows, one, other) for one, other in pairwise(row)]
            for node, place in zip(row, _spaced(wanted, weights, gaps), strict=True):
                places[node] = place
    return places


def _apart(rows: _Rows, one: int, other: int) -> float:
    gap = _BETWEEN if one < rows.boxes and other < rows.boxes else _BESIDE_AN_ARROW
    return (rows.widths[one] + rows.widths[other]) / 2 + gap


def _spaced(wanted: Sequence[float], weights: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """As near as possible to the wanted positions, neighbours at least these gaps apart: isotonic regression."""
    offsets = [0.0, *accumulate(gaps)]
    blocks: list[tuple[float, float, int]] = []
    for want, weight, offset in zip(wanted, weights, offsets, strict=True):
        total, mass, count = (want - offset) * weight, weight, 1
        while blocks and blocks[-1][0] / blocks[-1][1] >= total / mass:
            before = blocks.pop()
            total, mass, count = total + before[0], mass + before[1], count + before[2]
        blocks.append((total, mass, count))
    starts = [total / mass for total, mass, count in blocks for _ in range(count)]
    return [start + offset for start, offset in zip(starts, offsets, strict=True)]


def _curve(places: Sequence[Point], half: Sequence[float]) -> tuple[Point, ...]:
    """From the lower side of the first to the upper side of the last, vertical where it meets a row."""
    points: list[Point] = [(places[0][0], places[0][1] + half[0])]
    for (x, centre), height in zip(places[1:], half[1:], strict=True):
        points += _piece(points[-1], (x, centre - height))
        if len(points) < 6 * len(places) - 8:
            points += _piece(points[-1], (x, centre + height))
    return tuple(points)


def _piece(begin: Point, end: Point) -> list[Point]:
    middle = (begin[1] + end[1]) / 2
    return [(begin[0], middle), (end[0], middle), end]
