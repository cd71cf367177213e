"""Things that a network has found in an input."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Point:
    """A point of a pose or a face.

    Attributes:
        x: Place in shares of the input, 0 at the left.
        y: Place in shares of the input, 0 at the top.
        score: Score, 1 if the network has none.
    """

    x: float
    y: float
    score: float = 1.0


@dataclass(frozen=True)
class Found:
    """A thing that a network has found.

    Attributes:
        label: Name of its class; `pose` for the points of a body.
        score: Score, 0 to 1; the share of the picture for an area.
        x: Left edge of its box, in shares of the input, as the other edges.
        y: Upper edge.
        width: Width, 0 without a box.
        height: Height, 0 without a box.
        points: Its points.
    """

    label: str
    score: float
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0
    points: tuple[Point, ...] = ()


@dataclass(frozen=True)
class Decoded:
    """Everything that a network has found in one input.

    Attributes:
        found: The best one first.
        size: Width and height of the input; (1, 1) if it is no picture.
        area: Width and height of the mask, or (0, 0).
        mask: Class and length of each run of pixels of the same class, from the upper left pixel on; empty without areas.
    """

    found: tuple[Found, ...]
    size: tuple[int, int] = (1, 1)
    area: tuple[int, int] = (0, 0)
    mask: tuple[tuple[int, int], ...] = ()
