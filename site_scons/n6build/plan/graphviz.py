"""A layout by Graphviz, if it is installed. Only numbers are exchanged with it: names never reach it, and the drawing is
ours."""

from __future__ import annotations

import math
import shutil
import subprocess
from collections.abc import Sequence

from n6build.plan.boxes import Edge
from n6build.plan.layout import Layout, Point

_SECONDS = 5.0
# Graphviz measures in inches.
_INCH = 72.0
_SETTINGS = 'graph [rankdir=TB nodesep=0.15 ranksep=0.5]; node [shape=box fixedsize=true label=""]; edge [dir=none]'


def find_dot(path: str | None = None) -> str | None:
    """The program, None if it is not installed. path: folders to search, as in PATH; None: those of PATH."""
    return shutil.which("dot", path=path)


def dot_layout(dot: str, sizes: Sequence[tuple[float, float]], edges: Sequence[Edge]) -> Layout | None:
    """sizes: width and height of each box. None if it fails, takes too long, or answers with anything but a layout of these
    boxes."""
    try:
        result = subprocess.run(
            [dot, "-Tplain"],
            input=_graph(sizes, edges),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=True,
            # Nothing but its version may decide how it behaves.
            env={},
        )
        return _read(result.stdout, len(sizes), edges)
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, IndexError):
        return None


def _graph(sizes: Sequence[tuple[float, float]], edges: Sequence[Edge]) -> str:
    nodes = [
        f"{number} [width={width / _INCH:.4f} height={height / _INCH:.4f}]"
        for number, (width, height) in enumerate(sizes)
    ]
    arrows = [f"{edge.tail} -> {edge.head} [weight={1 if edge.after else 3}]" for edge in edges]
    return "\n".join(["digraph {", _SETTINGS, *nodes, *arrows, "}"])


def _read(text: str, count: int, edges: Sequence[Edge]) -> Layout:
    """Raises ValueError, KeyError or IndexError if the text is not a layout."""
    width = height = 0.0
    centres: dict[int, Point] = {}
    curves: dict[tuple[int, int], tuple[Point, ...]] = {}
    for line in text.splitlines():
        kind, *words = line.split()
        if kind == "graph":
            width, height = (_length(word) for word in words[1:3])
        elif kind == "node":
            centres[int(words[0])] = _point(words[1:3], height)
        elif kind == "edge":
            last = 3 + 2 * int(words[2])
            points = tuple(_point(words[at : at + 2], height) for at in range(3, last, 2))
            if len(points) < 4 or len(points) % 3 != 1:
                raise ValueError(f"an edge of {len(points)} points")
            curves[int(words[0]), int(words[1])] = points
    return Layout(
        width,
        height,
        tuple(centres[number] for number in range(count)),
        tuple(curves[edge.tail, edge.head] for edge in edges),
    )


def _length(word: str) -> float:
    value = float(word) * _INCH
    if not math.isfinite(value):
        raise ValueError(f"not a length: {word}")
    return value


def _point(words: Sequence[str], height: float) -> Point:
    """In pixels, y downwards; the y axis of Graphviz points upwards. height: of the picture."""
    x, y = words
    return _length(x), height - _length(y)
