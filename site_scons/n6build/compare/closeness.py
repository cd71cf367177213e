"""How near captured outputs are to those of the reference, and how much that proves."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Steps = NDArray[np.float64]
# Of large outputs, as many elements are enough to prove something.
_MOST_ELEMENTS = 4096
# A value that is exact counts as if it were one of so many.
_EXACT = 64
_LARGE = 1e9


@dataclass(frozen=True)
class Closeness:
    """How near an output is to the reference, over all vectors.

    Attributes:
        error: Root of the mean square of differences, divided by the standard deviation of the reference: 0 is equal, 1 is as far
            as a constant.
        equal: Share of elements that are equal, 0 to 1.
        max: Largest difference, in steps.
    """

    error: float
    equal: float
    max: float


def spread(wanted: Steps, step: float) -> float:
    """Return the standard deviation of the reference, at least half a step.

    Args:
        wanted: Of the reference.
        step: The least difference that means anything.
    """
    return max(float(wanted.std()), step / 2)


def closeness(got: Steps, wanted: Steps, step: float) -> Closeness:
    """Return how near two tables are.

    Args:
        got: Captured, a row for each vector.
        wanted: Of the reference, in the same shape.
        step: The least difference that means anything, 1 for integers.
    """
    with np.errstate(all="ignore"):
        difference = np.abs(got - wanted)
    difference = np.nan_to_num(difference, nan=_LARGE, posinf=_LARGE).clip(max=_LARGE)
    error = math.sqrt(float(np.square(difference).mean())) / spread(wanted, step) if difference.size else 0.0
    return Closeness(error, float((difference <= step / 1024).mean()), float(difference.max(initial=0)))


def proof_of_values(plain: Steps, undone: Steps, wanted: Steps, step: float) -> float:
    """Return how much it proves that changed values are those of the reference, in bits.

    Each pair of values counts once, and only where the change brings it nearer: a lucky number is in none of them.

    Args:
        plain: As captured.
        undone: Without the supposed cause.
        wanted: Of the reference.
        step: As of `closeness`.
    """
    before, after, want, got = (
        _sample(each) for each in (np.abs(plain - wanted), np.abs(undone - wanted), wanted, undone)
    )
    nearer = ~(before <= after + step / 2)
    pairs = np.unique(np.stack([np.round(want[nearer] / step), np.round(got[nearer] / step)]), axis=1)
    width = spread(wanted, step)
    distance = np.maximum(np.abs(pairs[0] - pairs[1]) * step, width / _EXACT)
    return float(np.log2(np.maximum(1.0, 2 * width / distance)).sum())


def proof_of_outputs(got: Steps, plain: Steps, changed: Steps, others: list[Steps], step: float) -> float:
    """Return how much it proves that the reference gives captured outputs for changed inputs, in bits.

    An element proves as much as it is rare among the outputs for other changes, half of that since elements depend on each other.

    Args:
        got: As captured.
        plain: Of the reference, for the inputs as they are.
        changed: Of the reference, for changed inputs.
        others: For inputs with other changes.
        step: As of `closeness`.
    """
    mine, before, after = (_sample(each) for each in (got, plain, changed))
    nearer = ~(np.abs(mine - before) <= np.abs(mine - after) + step / 2)
    if not nearer.any():
        return 0.0
    pool = np.stack([before, *(_sample(each) for each in others)])[:, nearer]
    window = np.maximum(np.abs(mine - after)[nearer], step)
    alike = (np.abs(pool - mine[nearer]) <= window).sum(axis=0)
    return float(np.log2((len(pool) + 1) / (alike + 1)).sum()) / 2


def _sample(values: Steps) -> Steps:
    flat = values.reshape(-1)
    return flat if flat.size <= _MOST_ELEMENTS else flat[np.linspace(0, flat.size - 1, _MOST_ELEMENTS).astype(np.int64)]
