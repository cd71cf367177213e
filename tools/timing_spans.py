"""Ranges of numbers as the file of the model writes them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

# Nine of ten values are between these quantiles.
LOW, HIGH = 0.05, 0.95
# Fewer values do not show the spread of measurements.
_LEAST = 5
# An operator that was measured once or twice depends on its shape in an unknown way.
_DOUBLE = 2.0


def span_of(values: Iterable[float]) -> str:
    """Return the range of nine of ten values, and the median between them."""
    sample = np.array(list(values), dtype=float)
    low, middle, high = np.quantile(sample, [LOW, 0.5, HIGH])
    return three(float(low), float(middle), float(high))


def three(low: float, value: float, high: float) -> str:
    """Return a range and a value in it."""
    return f"{{low: {number(low)}, value: {number(value)}, high: {number(high)}}}"


def number(value: float) -> str:
    """Return four digits of a number, in a form that YAML reads as a number."""
    return f"{float(f'{value:.4g}'):.10g}" if value < 1e6 else f"{value:.0f}"


def listed(rows: Iterable[tuple[str, float]]) -> list[str]:
    """Return the range of each kind, from half to twice the values if they are few."""
    found: dict[str, list[float]] = defaultdict(list)
    for kind, value in rows:
        found[kind].append(value)
    return [
        f"  {kind}: {doubled(values) if len(values) < _LEAST else _whole(values, 1.0)}"
        for kind, values in sorted(found.items())
    ]


def doubled(values: Sequence[float]) -> str:
    """Return a range from half of the smallest to twice the largest value."""
    return _whole(values, _DOUBLE)


def _whole(values: Sequence[float], factor: float) -> str:
    return three(min(values) / factor, float(np.median(values)), max(values) * factor)
