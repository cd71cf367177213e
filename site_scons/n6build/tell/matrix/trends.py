"""Trends of the figures of a matrix over commits, and their regressions.

A figure is compared with the last earlier one that had not grown too much itself: a regression
stays one until it is fixed or accepted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from n6build.base.console import say
from n6build.base.errors import N6Error
from n6build.tell.matrix.history import Entry, Figures
from n6build.tell.matrix.matrix_settings import Limits

# Figure -> its description, in the order of a page.
FIGURES = {
    "appli_bytes": "Appli, bytes",
    "activation_bytes": "RAM, bytes",
    "instructions": "instructions of an inference",
    "seconds": "seconds to build",
    "accuracy": "accuracy of int8, %",
    "sqnr_db": "SQNR of int8, dB",
}
# Figures that should be high; their loss counts, in their own unit.
HIGH = ("accuracy", "sqnr_db")
_SHOWN_DIGITS = 10
_LINES = 16


@dataclass(frozen=True)
class Point:
    """A figure of one commit.

    Attributes:
        before: figure to compare with, None for the first.
        growth: growth in percent of `before`; the loss of a figure in `HIGH`.
        is_regression: whether the growth is above the limit.
    """

    commit: str
    value: float
    before: float | None
    before_commit: str
    growth: float
    is_regression: bool


@dataclass(frozen=True)
class Trend:
    """A figure of a pair over commits.

    Attributes:
        pair: 'board/model'.
        figure: key of `FIGURES`.
        points: the oldest first.
    """

    pair: str
    figure: str
    points: tuple[Point, ...]


def trends_of(entries: Sequence[Entry], options: Sequence[str], limits: Limits) -> list[Trend]:
    """Return the trend of every pair and figure, by name.

    Args:
        entries: entries of the history.
        options: options of the entries that count.
        limits: limits of the project.
    """
    own = [entry for entry in entries if entry.options == tuple(options)]
    pairs = sorted({pair for entry in own for pair in entry.figures})
    return [
        Trend(pair, figure, points)
        for pair in pairs
        for figure in FIGURES
        if (points := tuple(_points(figure, _values(own, pair, figure), limits)))
    ]


def _values(entries: Iterable[Entry], pair: str, figure: str) -> Iterator[tuple[str, float]]:
    for entry in entries:
        found: Figures | None = entry.figures.get(pair)
        value = getattr(found, figure) if found else None
        if value is not None:
            yield entry.commit, value


def _points(figure: str, values: Iterable[tuple[str, float]], limits: Limits) -> Iterator[Point]:
    before: float | None = None
    before_commit = ""
    most, accepted = limits.most.get(figure), tuple(limits.accepted)
    for commit, value in values:
        growth = (before or value) - value if figure in HIGH else _growth(value, before)
        is_regression = most is not None and growth > most and not commit.startswith(accepted)
        yield Point(commit, value, before, before_commit, growth, is_regression)
        if not is_regression:
            before, before_commit = value, commit


def _growth(value: float, before: float | None) -> float:
    """Return the growth in percent; infinite from 0 to another value."""
    if before is None or value == before:
        return 0.0
    return 100.0 * (value - before) / before if before else float("inf")


def latest(trends: Iterable[Trend], commit: str) -> list[tuple[Trend, Point]]:
    """Return the regressions of this commit, the largest growth first."""
    found = [(each, each.points[-1]) for each in trends]
    return sorted(
        ((trend, point) for trend, point in found if point.is_regression and point.commit == commit),
        key=lambda each: -each[1].growth,
    )


def raise_if_worse(found: Sequence[tuple[Trend, Point]], limits: Limits) -> None:
    """Report regressions, and raise an error if there are any.

    Args:
        found: result of `latest`.
        limits: limits of the project.

    Raises:
        N6Error: N6-MATRIX-006 if there are regressions.
    """
    if not found:
        return
    for trend, point in found[:_LINES]:
        say("Worse", trend.pair, sentence(trend, point, limits.most))
    if len(found) > _LINES:
        say("Worse", f"{len(found) - _LINES} more", "trends.html has all of them")
    trend, point = found[0]
    many = f"{len(found)} figures are beyond their limits, first" if len(found) > 1 else "is beyond its limit:"
    hint = f"correct it, or accept it with a reason in n6build.yaml: matrix.accepted: {{'{point.commit[:12]}': ...}}"
    what = f"{many} {trend.pair}: {sentence(trend, point, limits.most)}"
    raise N6Error("N6-MATRIX-006", what, where=limits.where[trend.figure], hint=hint)


def sentence(trend: Trend, point: Point, most: Mapping[str, float]) -> str:
    """Return a sentence about the growth of a figure.

    Example: 'instructions of an inference: 1,500,000, 2.07 % more than 1,469,573 at 0123abc; at most
    1 %'.
    """
    unit = "" if trend.figure in HIGH else " %"
    grew = f"{point.growth:.2f}{unit} {'less' if not unit else 'more'} than"
    grew = "where it was" if point.growth == float("inf") else grew
    limit = f"; at most {most[trend.figure]:g}{unit}" if trend.figure in most else ""
    was = shown(point.before or 0)
    return (
        f"{FIGURES[trend.figure]}: {shown(point.value)}, {grew} {was} at {point.before_commit[:_SHOWN_DIGITS]}{limit}"
    )


def shown(value: float) -> str:
    """Return a figure with separators, and with a decimal for seconds."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"
