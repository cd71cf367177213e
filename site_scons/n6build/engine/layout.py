"""Positions of boxes in rows, and of the arrows between them.

Each row is below all that its boxes need. Rows come from the longest path, order and positions
within a row from the mean of the neighbours. Arrows of one kind that leave the same box share their
way. The same input gives the same picture.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from statistics import fmean

from n6build.engine.boxes import Edge

Point = tuple[float, float]

ROW = 80.0
_GAP = 12.0
_SWEEPS = 16
# Sweeps at the end that look at both sides of a row, for arrows that are straight over several rows.
_LAST = 4
# A node without a neighbour keeps this part of its distance from the middle: sweeps push it outwards only.
_INWARDS = 0.6


@dataclass(frozen=True)
class Layout:
    """Positions in pixels.

    Attributes:
        width: Width of the longest row.
        height: Height of all rows, `ROW` each.
        centres: The centre of each box.
        ways: The points of each arrow, one a row: the centre of a box, of each row that it passes,
            and of the other box.
    """

    width: float
    height: float
    centres: tuple[Point, ...]
    ways: tuple[tuple[Point, ...], ...]


def layered(widths: Sequence[float], levels: Sequence[int], edges: Sequence[Edge]) -> Layout:
    """Return positions at which no boxes overlap and all arrows point downwards.

    Args:
        widths: Width of each box in pixels.
        levels: Level of each box, greater than those of all boxes that it needs.
        edges: Arrows between the boxes.
    """
    levels = _near_their_users(levels, edges)
    rows: list[list[int]] = [[] for _ in range(max(levels, default=-1) + 1)]
    for box, level in enumerate(levels):
        rows[level].append(box)
    # Nodes are the boxes, and behind them the places where arrows pass a row.
    room = [*widths]
    passing: dict[tuple[int, bool, int], int] = {}
    ways = []
    for edge in edges:
        passed = [(edge.tail, edge.after, row) for row in range(levels[edge.tail] + 1, levels[edge.head])]
        for place in passed:
            if place not in passing:
                passing[place] = len(room)
                rows[place[2]].append(len(room))
                room.append(0.0)
        ways.append([edge.tail, *(passing[place] for place in passed), edge.head])
    across = _across(rows, room, dict.fromkeys(pair for way in ways for pair in pairwise(way)))
    left = min((x - width / 2 for x, width in zip(across, room, strict=True)), default=0.0)
    right = max((x + width / 2 for x, width in zip(across, room, strict=True)), default=0.0)
    down = {node: (number + 0.5) * ROW for number, row in enumerate(rows) for node in row}
    points = [(x - left, down[node]) for node, x in enumerate(across)]
    drawn = tuple(tuple(points[node] for node in way) for way in ways)
    return Layout(right - left, len(rows) * ROW, tuple(points[: len(widths)]), drawn)


def _near_their_users(levels: Sequence[int], edges: Sequence[Edge]) -> list[int]:
    """Return the levels, with boxes that need nothing moved down.

    They are in the row above the first box that needs them.
    """
    heads = {edge.head for edge in edges}
    lowered: dict[int, int] = {}
    for edge in edges:
        if edge.tail not in heads:
            lowered[edge.tail] = min(levels[edge.head] - 1, lowered.get(edge.tail, len(levels)))
    return [lowered.get(box, level) for box, level in enumerate(levels)]


def _across(rows: Sequence[list[int]], room: Sequence[float], links: Iterable[tuple[int, int]]) -> list[float]:
    """Return the centre of each node, and put each row into that order."""
    above: list[list[int]] = [[] for _ in room]
    below: list[list[int]] = [[] for _ in room]
    for upper, lower in links:
        above[lower].append(upper)
        below[upper].append(lower)
    across = [0.0] * len(room)
    for sweep in range(_SWEEPS):
        beside = above if sweep % 2 == 0 else below
        if sweep >= _SWEEPS - _LAST:
            beside = [one + other for one, other in zip(above, below, strict=True)]
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wanted = {node: fmean([across[each] for each in beside[node]] or [across[node] * _INWARDS]) for node in row}
            row.sort(key=lambda node: wanted[node])
            gaps = [_GAP + (room[one] + room[other]) / 2 for one, other in pairwise(row)]
            for node, place in zip(row, _spaced([wanted[node] for node in row], gaps), strict=True):
                across[node] = place
    return across


def _spaced(wanted: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """Return places near the wanted ones, with neighbours at least these gaps apart.

    They are the mean of pushing right and pushing left.
    """
    offsets = [*accumulate(gaps, initial=0.0)]
    free = [place - offset for place, offset in zip(wanted, offsets, strict=True)]
    pushed_right = accumulate(free, max)
    pushed_left = reversed([*accumulate(reversed(free), min)])
    return [(one + other) / 2 + offset for one, other, offset in zip(pushed_right, pushed_left, offsets, strict=True)]
