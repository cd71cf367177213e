"""Distance of captured outputs from the reference, and its value as a proof."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Numbers in steps of an output's quantisation, a row for each vector.
Steps = NDArray[np.float64]
# Number of elements of a large output that are enough for a proof.
_MOST_ELEMENTS = 4096
# An exact value counts as one of this many possible values.
_EXACT = 64
_LARGE = 1e9
MUCH_NEARER = 2.0


@dataclass(frozen=True)
class Closeness:
    """Distance of an output from the reference, over all vectors.

    Attributes:
        error: Root of the mean square of differences, divided by the standard deviation of the
            reference: 0 is equal, 1 is as far as a constant.
        equal: Share of elements that are equal, 0 to 1.
        max: Largest difference, in steps.
    """

    error: float
    equal: float
    max: float


def spread(wanted: Steps, step: float) -> float:
    """Return the standard deviation of the reference, at least half a step.

    Args:
        wanted: Values of the reference.
        step: The least significant difference.
    """
    return max(float(wanted.std()), step / 2)


def closeness(got: Steps, wanted: Steps, step: float) -> Closeness:
    """Return the distance between two tables.

    Args:
        got: Captured values, a row for each vector.
        wanted: Values of the reference, in the same shape.
        step: The least significant difference, 1 for integers.
    """
    with np.errstate(all="ignore"):
        difference = np.abs(got - wanted)
    difference = np.nan_to_num(difference, nan=_LARGE, posinf=_LARGE).clip(max=_LARGE)
    error = math.sqrt(float(np.square(difference).mean())) / spread(wanted, step) if difference.size else 0.0
    return Closeness(error, float((difference <= step / 1024).mean()), float(difference.max(initial=0)))


def proof_of_values(far: Steps, undone: Steps, wanted: Steps, step: float, fields: int = 1) -> float:
    """Return the bits of proof that changed values are those of the reference.

    Equal pairs of values count once, and only if the change brings them nearer.

    Args:
        far: Distance of the values as captured.
        undone: The values without the supposed cause.
        wanted: Values of the reference.
        step: As in `closeness`.
        fields: Number of values that were moved together, and count together.
    """
    before, want, got = (_sample(each, fields) for each in (far, wanted, undone))
    nearer = ~(before <= np.abs(got - want) + step / 2).all(axis=1)
    pairs = np.unique(np.round(np.concatenate([want[nearer], got[nearer]], axis=1) / step), axis=0)
    width = spread(wanted, step)
    distance = np.maximum(np.abs(pairs[:, :fields] - pairs[:, fields:]) * step, width / _EXACT)
    return float(np.log2(np.maximum(1.0, 2 * width / distance)).sum())


def proof_of_outputs(got: Steps, plain: Steps, changed: Steps, others: Sequence[Steps], step: float) -> float:
    """Return the bits of proof that changed inputs explain captured outputs.

    The rarer an element is among the outputs for other inputs, the more it proves. Half of that counts,
    since elements depend on each other.

    Args:
        got: Captured outputs.
        plain: Outputs of the reference, for unchanged inputs.
        changed: Outputs of the reference, for changed inputs.
        others: Outputs for inputs with other changes, and for unrelated ones.
        step: As in `closeness`.
    """
    mine, before, after = (_sample(each)[:, 0] for each in (got, plain, changed))
    nearer = ~(np.abs(mine - before) <= np.abs(mine - after) + step / 2)
    if not nearer.any():
        return 0.0
    pool = np.stack([before, *(_sample(each)[:, 0] for each in others)])[:, nearer]
    window = np.maximum(np.abs(mine - after)[nearer], step)
    alike = (np.abs(pool - mine[nearer]) <= window).sum(axis=0)
    return float(np.log2((len(pool) + 1) / (alike + 1)).sum()) / 2


def is_nearer(got: Steps, changed: Steps, unrelated: Steps, step: float) -> bool:
    """Return true if captured outputs are much nearer to those for changed inputs.

    They are compared with outputs for unrelated inputs.

    Args:
        got: Captured outputs, a row for each vector.
        changed: Outputs of the reference, for changed inputs.
        unrelated: Outputs of the reference, for unrelated inputs.
        step: As in `closeness`.
    """
    least = []
    with np.errstate(all="ignore"):
        for mine, theirs in zip(got, changed, strict=True):
            # Unrelated inputs may have the same outputs: these prove nothing and are left out.
            others = unrelated[np.abs(unrelated - theirs).max(axis=1, initial=0) > step]
            least.append(np.square(others - mine).mean(axis=1).min(initial=np.inf))
        return float(np.square(got - changed).mean()) * MUCH_NEARER**2 <= float(np.mean(least))


def _sample(values: Steps, fields: int = 1) -> Steps:
    """Return evenly spaced rows of `fields` values."""
    table = values.reshape(-1, fields)
    most = max(1, _MOST_ELEMENTS // fields)
    return table if len(table) <= most else table[np.linspace(0, len(table) - 1, most).astype(np.int64)]
